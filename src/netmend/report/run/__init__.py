"""A recorded run and its diagnosis, shown."""
