"""Commands that train, play and compare policies."""
