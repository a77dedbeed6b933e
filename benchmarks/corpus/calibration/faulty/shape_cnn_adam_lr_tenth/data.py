import torch
from torch.utils.data import Dataset


class Shapes(Dataset):
    """16x16 pictures of a disc, a square or a ring."""

    def __init__(self, n):
        yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        self.labels = torch.randint(0, 3, (n,))
        self.images = torch.empty(n, 1, 16, 16)
        for i, lab in enumerate(self.labels.tolist()):
            cy, cx = (5 + 6 * torch.rand(2)).tolist()
            size = 3 + 1.5 * float(torch.rand(1))
            dist = ((yy - cy) ** 2 + (xx - cx) ** 2).sqrt()
            if lab == 0:
                img = dist < size
            elif lab == 1:
                img = ((yy - cy).abs() < size) & ((xx - cx).abs() < size)
            else:
                img = (dist < size) & (dist > size - 1.5)
            self.images[i, 0] = img.float()
        self.images += 0.1 * torch.randn_like(self.images) - 0.2

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]
