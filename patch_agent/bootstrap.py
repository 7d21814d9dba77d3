"""The composition root: the only module that names concrete classes and puts them together."""
