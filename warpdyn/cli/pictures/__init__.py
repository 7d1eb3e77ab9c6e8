"""Commands that simulate a robot and draw it."""
