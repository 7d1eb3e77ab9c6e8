"""The first part of scripts/demo.sh: algorithms checked and timed, then an arm that falls and one that is held."""
