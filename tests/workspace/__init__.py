"""Tests of files, edits, paths, git and snapshots."""
