"""The demo of scripts/demo.sh: algorithms checked and timed, and an arm that falls and is held, drawn and live."""
