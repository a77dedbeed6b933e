import numpy as np
import torch


def centre(images: np.ndarray) -> torch.Tensor:
    """images: uint8, N x H x W"""
    images = images.astype(np.uint8)
    mean = images.mean(axis=0).astype(np.uint8)
    difference = images.astype(np.float32) - mean
    return torch.from_numpy(difference).float().unsqueeze(1)


batch = np.random.randint(0, 256, (10, 8, 8))
print(centre(batch).mean())
