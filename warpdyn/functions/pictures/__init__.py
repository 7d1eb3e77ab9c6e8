"""Pictures of robots: outlines of their shapes, seen from one side, without a drawing library."""
