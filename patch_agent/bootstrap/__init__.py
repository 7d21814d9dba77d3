"""The composition root: the only part that names concrete classes and puts them together."""
