"""Patch: a command-line coding agent whose runtime owns the facts."""

__version__ = "0.1.0"
