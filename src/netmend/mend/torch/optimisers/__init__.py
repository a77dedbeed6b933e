"""What changes a slice: gradient descent, evolution, swarms."""
