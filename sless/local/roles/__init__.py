"""The home's own processes besides the worker: one composition root each."""
