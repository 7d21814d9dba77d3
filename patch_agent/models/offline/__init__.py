"""Repair without a language model."""
