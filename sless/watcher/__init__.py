"""The watcher: status in step with the workflows, and a look at whatever nobody looks at."""
