"""The recorder: one part per kind of thing that a training program does."""
