"""The Kubernetes home: a composition root for each of its parts."""
