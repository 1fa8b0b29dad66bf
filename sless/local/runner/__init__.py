"""The runner: build jobs and functions as supervised processes."""
