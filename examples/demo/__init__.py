"""The demo of scripts/demo.sh: algorithms are checked and timed; an arm falls and is held, in a picture and live."""
