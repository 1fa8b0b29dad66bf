"""The ports on a Kubernetes API server."""
