"""The user's files and git: reading, writing, snapshots, differences."""
