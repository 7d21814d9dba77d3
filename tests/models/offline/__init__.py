"""Tests of the offline repair engine."""
