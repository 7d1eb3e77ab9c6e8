"""Parameters and forces from measurements: payloads, gravity terms and momentum observers."""
