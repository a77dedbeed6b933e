"""A small package with relative imports: python -m pocket_trainer, python -m pocket_trainer.train."""

NAME = "pocket"
