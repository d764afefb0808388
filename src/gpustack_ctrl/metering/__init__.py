"""What Instances have and use, and the text in which Prometheus reads it: pure."""
