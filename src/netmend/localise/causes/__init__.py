"""One cause per file: which symptoms and facts speak for and against it, where it is, what to change."""
