"""What a real Prometheus is told: all tests share it, and the workloads that it is told of."""
