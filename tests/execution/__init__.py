"""Tests of running processes."""
