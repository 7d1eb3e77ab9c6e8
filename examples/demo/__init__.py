"""The demo of scripts/demo.sh: checks and times of algorithms, then an arm that falls and is held."""
