"""Tests of where events and bytes are kept."""
