"""Pictures of robots in their environments: outlines from one side, stages and frames."""
