"""The environment, shown."""
