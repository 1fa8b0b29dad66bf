"""Deterministic workflow code only."""
