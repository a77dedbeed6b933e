"""One detector per file; importing the family imports them all. Adding one touches nothing else."""
