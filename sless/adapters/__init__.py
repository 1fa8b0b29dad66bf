"""The ports on real parts; only roots choose among them."""
