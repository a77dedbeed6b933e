import torch
from torch.utils.data import Dataset


class Trails(Dataset):
    """A particle walks over a 14x14 grid; class = its drift direction."""

    DRIFT = [(0, 1), (1, 0), (1, 1), (-1, 1), (0, 0)]

    def __init__(self, n_per_class, n_classes):
        self.images, self.labels = [], []
        for label in range(n_classes):
            for _ in range(n_per_class):
                self.images.append(self._walk(label))
                self.labels.append(label)

    def _walk(self, label):
        img = 0.1 * torch.randn(1, 14, 14)
        r, c = (4 + torch.randint(0, 6, (2,))).tolist()
        dr, dc = self.DRIFT[label]
        for _ in range(9):
            img[0, r % 14, c % 14] += 1.0
            jr, jc = (torch.rand(2) < 0.25).int().tolist()
            r += dr + jr - (1 if jr and torch.rand(()) < 0.5 else 0) * 2
            c += dc + jc - (1 if jc and torch.rand(()) < 0.5 else 0) * 2
        return img

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]
