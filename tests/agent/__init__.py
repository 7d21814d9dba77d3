"""Tests of the loop and its parts."""
