"""What a call asks for: its arguments, their checks and its evaluation on symbols or numbers."""
