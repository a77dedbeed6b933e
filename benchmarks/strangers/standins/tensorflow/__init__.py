"""Only what scripts of 2017 take MNIST from."""
