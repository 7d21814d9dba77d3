"""Tests of what the model can do."""
