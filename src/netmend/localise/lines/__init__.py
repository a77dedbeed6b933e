"""Lines of the user's program that matter to a fault."""
