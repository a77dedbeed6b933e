"""argparse into a dataclass config; a factory table for optimisers."""

import argparse
import dataclasses

import torch
from common import blobs, finish, seed_everything
from torch import nn


@dataclasses.dataclass
class Config:
    lr: float = 1e-2
    hidden: int = 16
    epochs: int = 5
    optimizer: str = "adam"
    verbose: bool = False


def parse():
    parser = argparse.ArgumentParser(description="train a small classifier")
    for field in dataclasses.fields(Config):
        if field.type is bool:
            parser.add_argument(f"--{field.name}", action="store_true")
        else:
            parser.add_argument(f"--{field.name}", type=field.type, default=field.default)
    return Config(**vars(parser.parse_args()))


def main():
    config = parse()
    print(config)
    seed_everything(44)
    x, y = blobs(64)
    model = nn.Sequential(nn.Linear(8, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 3))
    optimizer = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[config.optimizer](
        model.parameters(), lr=config.lr
    )
    for epoch in range(config.epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"{epoch=} loss={loss.item()!r}")
    finish(model)


if __name__ == "__main__":
    main()
