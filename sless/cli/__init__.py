"""The command line: thin commands over the HTTP API."""
