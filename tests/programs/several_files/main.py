"""A project of several files in one folder, started as a script: python main.py --epochs 3."""

import argparse
import sys

from config import load_config
from models import build_model
from trainer import Trainer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    config = load_config(epochs=options.epochs)
    trainer = Trainer(build_model(config), config)
    sys.exit(trainer.run())
