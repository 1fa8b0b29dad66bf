"""The gateway: Envoy, configured from files by pure functions of the routes."""
