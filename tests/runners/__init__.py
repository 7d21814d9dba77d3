"""Tests of reading test runs."""
