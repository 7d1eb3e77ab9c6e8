"""Recording of algorithms on symbols: programs, and derivatives of programs."""
