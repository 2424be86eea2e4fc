"""Training of one net: its specification, data, steps, epochs and checkpoints."""
