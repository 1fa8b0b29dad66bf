"""Images of the embedded home: bundles on disk, made by uv, built by jobs of a table."""
