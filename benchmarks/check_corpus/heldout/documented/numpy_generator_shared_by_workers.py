import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class NoisySignals(Dataset):
    def __init__(self, signals):
        self.signals = signals
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, i):
        noise = self.rng.normal(0, 0.1, self.signals[i].shape)
        return torch.as_tensor(self.signals[i]).float() + torch.as_tensor(noise).float()


loader = DataLoader(NoisySignals(np.random.rand(100, 32)), batch_size=8, num_workers=4, shuffle=True)
for batch in loader:
    print(batch.std())
