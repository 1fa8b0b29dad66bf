"""The embedded home's store: one SQLite file, with the server-side rules of a cluster."""
