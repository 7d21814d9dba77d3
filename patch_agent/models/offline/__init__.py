"""The embedded model: repairs small faults that a test exposes, without a language model."""
