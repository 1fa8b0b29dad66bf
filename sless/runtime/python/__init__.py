"""What is copied beside a function; see `docs/runtime.md`. This file stays behind."""
