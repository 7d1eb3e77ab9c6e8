"""Commands: computed torques after scale, ramp and limits, and the stop sequence."""
