"""Facts about libraries, once: what PyTorch and Keras are made of, well-known data sets, names that were removed."""
