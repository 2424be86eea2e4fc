"""Training data: inputs as tensors, images, augmentation, text, splits, and files of training data."""
