import torch
from torch.utils.data import Dataset


class BlobMasks(Dataset):
    """Grey images with one or two discs under noise and a brightness ramp; the mask marks the discs."""

    def __init__(self, n, size):
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.images, self.masks = [], []
        for _ in range(n):
            mask = torch.zeros(size, size)
            for _ in range(int(torch.randint(1, 3, (1,)))):
                cx, cy = torch.randint(3, size - 3, (2,)).tolist()
                r = float(torch.rand(1) * 1.5 + 2.0)
                mask[(xx - cx) ** 2 + (yy - cy) ** 2 <= r * r] = 1.0
            ramp = (xx * torch.randn(1) + yy * torch.randn(1)) / size
            img = mask * 1.2 + 0.4 * ramp + 0.4 * torch.randn(size, size)
            self.images.append((img - img.mean()) / img.std())
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i][None], self.masks[i][None]
