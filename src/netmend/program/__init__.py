"""The user's program, read and never run: its text, what its expressions can stand for, and what that means for training."""
