"""Tasks that come with warpdyn."""
