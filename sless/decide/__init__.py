"""Deciding: pure functions from what was seen to what is done next, shared by both homes."""
