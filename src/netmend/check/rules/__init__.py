"""Rules by subject; a large one has a file of its own. `S` and three digits, the first for the family."""
