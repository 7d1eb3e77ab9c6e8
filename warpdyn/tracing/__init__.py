"""From an algorithm's text to a kernel: record on symbols, order and print the program, compile it with Warp."""
