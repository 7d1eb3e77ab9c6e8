"""Parameters of the node: their types, bounds, defaults and descriptions."""
