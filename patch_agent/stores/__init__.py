"""Where events and blobs are kept."""
