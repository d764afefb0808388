"""Programs that prove the operator against a real Kubernetes API server."""
