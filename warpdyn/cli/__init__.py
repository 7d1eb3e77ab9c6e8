"""The `warpdyn` command."""
