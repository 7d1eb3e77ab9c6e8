"""Request of a call: its arguments, their checks and its evaluation on symbols or numbers."""
