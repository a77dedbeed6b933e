"""What values and events mean for training: operations, losses, optimisers, loaders, loops, modes."""
