"""Settings of tasks and recipes by text and files."""
