"""Test runners, one file each: detect, command, read the result."""
