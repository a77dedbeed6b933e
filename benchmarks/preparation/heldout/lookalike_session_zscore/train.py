import pathlib
import numpy as np
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Recording(Dataset):
    """One sitting with the armband. Gain and offset of the amplifier differ from sitting to
    sitting, so every recording is brought to its own mean and spread."""

    def __init__(self, path):
        with np.load(path) as z:
            emg, self.gesture = z["emg"], z["gesture"].astype(np.int64)
        mean = emg.mean(axis=(0, 2), keepdims=True)
        std = emg.std(axis=(0, 2), keepdims=True)
        self.emg = ((emg - mean) / std).astype(np.float32)

    def __len__(self):
        return len(self.gesture)

    def __getitem__(self, i):
        return self.emg[i], self.gesture[i]


def epoch_loop(net, loader, opt=None):
    total, right, seen = 0.0, 0, 0
    for x, y in loader:
        out = net(x)
        loss = nn.functional.cross_entropy(out, y)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        total += loss.item() * len(y)
        right += (out.argmax(1) == y).sum().item()
        seen += len(y)
    return total / seen, right / seen


def main():
    torch.manual_seed(10)
    paths = sorted(pathlib.Path("recordings").glob("rec*.npz"))
    test_paths = paths[::4]
    train_paths = [p for p in paths if p not in test_paths]
    train = ConcatDataset([Recording(p) for p in train_paths])
    test = ConcatDataset([Recording(p) for p in test_paths])
    print(f"{len(train_paths)} recordings to train on, {len(test_paths)} to test on")

    net = nn.Sequential(nn.Conv1d(2, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(4),
                        nn.Flatten(), nn.Linear(160, 32), nn.ReLU(), nn.Linear(32, 3))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    loader = DataLoader(train, batch_size=64, shuffle=True)
    for epoch in range(8):
        loss, acc = epoch_loop(net, loader, opt)
        print(f"epoch {epoch} loss {loss:.4f} acc {acc:.3f}")
    net.eval()
    with torch.no_grad():
        loss, acc = epoch_loop(net, DataLoader(test, batch_size=256))
    print(f"test loss {loss:.4f}")
    print(f"test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
