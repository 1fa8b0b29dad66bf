"""What the composition roots of both homes share: how a process starts, and what it connects to."""
