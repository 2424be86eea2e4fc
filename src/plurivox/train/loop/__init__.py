"""One training: specification, steps, epochs, checkpoints."""
