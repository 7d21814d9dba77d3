"""How a fault may be mended: one function an operator, one line each in the registry."""
