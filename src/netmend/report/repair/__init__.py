"""A repair, shown."""
