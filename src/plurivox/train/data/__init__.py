"""Training data: inputs, images, text, splits, weights of tasks."""
