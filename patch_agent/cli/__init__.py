"""Typer commands: flags in, exit code out."""
