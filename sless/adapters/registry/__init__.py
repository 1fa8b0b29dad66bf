"""The image registry, by its HTTP API."""
