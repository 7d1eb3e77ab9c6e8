"""What the `warpdyn` command does, a file for each of its larger subcommands; `warpdyn.cli` parses the command line."""
