"""The training loop in the source: calls, modes, rates, epochs, batches."""
