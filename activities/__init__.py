"""One class per step of the pipeline, ports injected."""
