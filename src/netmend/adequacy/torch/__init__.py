"""A user's trained model asked for its answers and the outputs of its layers, in PyTorch."""
