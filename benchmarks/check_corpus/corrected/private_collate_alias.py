import torch
from torch.utils import data


def drop_broken(samples):
    """Leaves out samples that could not be read."""
    kept = [s for s in samples if s is not None]
    return data.default_collate(kept)


def loader_for(dataset, batch_size):
    return data.DataLoader(dataset, batch_size=batch_size, shuffle=True, collate_fn=drop_broken)


if __name__ == "__main__":
    rows = [(torch.randn(4), i % 2) for i in range(64)]
    for x, y in loader_for(rows, 16):
        print(x.shape, y.sum())
