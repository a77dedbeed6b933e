"""Single changes of a training program, good or bad: one kind in each file."""
