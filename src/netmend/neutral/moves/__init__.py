"""Single changes of a training program, good or bad."""
