"""The product's words as values: Function, ask, revision, Deployment, attempt, outcome."""
