"""How many ones are in a sequence of ten bits? A recurrent network with one class per answer."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

sequences = (torch.rand(600, 10, 1) > 0.5).float()
counts = sequences.sum(dim=(1, 2)).long()
loader = DataLoader(TensorDataset(sequences, counts), batch_size=20, shuffle=True)


class Counter(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 11)

    def forward(self, bits):
        _, last = self.rnn(bits)
        return self.head(last[-1])


model = Counter()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(25):
    running = 0.0
    for bits, count in loader:
        optimizer.zero_grad()
        loss = criterion(model(bits), count)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1}: loss {running / len(loader):.4f}")
