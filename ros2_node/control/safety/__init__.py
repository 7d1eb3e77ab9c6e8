"""Safety: the enable gate, limits of joints and payload, the lock, the clock of the watchdog."""
