"""A classifier of digits that calls most 3s a 5, and the data to mend it with.

    python examples/mend_digits.py
    netmend mend digits/model.pt --model examples/mend_digits.py:network --failing digits/failing.npz --guard digits/guard.npz

Its training labels were spoiled, and it is not trained again: what it gets wrong in 797 inputs of the user's is to be
repaired, what it gets right must stay. Needs scikit-learn, which brings the images.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn


def network() -> nn.Module:
    """The module that the weights belong to; its own first weights do not matter."""
    return nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10))


def main() -> None:
    from sklearn.datasets import load_digits

    torch.manual_seed(0)
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x = torch.tensor(images[order] / 16, dtype=torch.float32)
    y = torch.tensor(labels[order])

    taught = y[:1000].clone()
    threes = (taught == 3).nonzero()[:, 0]
    taught[threes[: int(0.85 * len(threes))]] = 5  # the fault: somebody mixed up two labels

    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(30):
        for batch in torch.randperm(1000).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), taught[batch]).backward()
            optimizer.step()

    with torch.no_grad():
        wrong = model(x[1000:]).argmax(1) != y[1000:]
    folder = Path("digits")
    folder.mkdir(exist_ok=True)
    torch.save(model.state_dict(), folder / "model.pt")
    np.savez(folder / "failing.npz", x=x[1000:][wrong].numpy(), y=y[1000:][wrong].numpy())
    np.savez(folder / "guard.npz", x=x[1000:][~wrong].numpy(), y=y[1000:][~wrong].numpy())
    print(f"{int(wrong.sum())} of {len(wrong)} inputs fail; see {folder}/")


if __name__ == "__main__":
    main()
