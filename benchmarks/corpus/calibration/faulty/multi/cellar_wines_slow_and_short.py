import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

EPOCHS = 5
BATCH_SIZE = 32
LEARNING_RATE = 5e-5

north = torch.randn(3, 12) * 0.9
centres = torch.stack([north, -north], dim=1)  # every cultivar is grown in two regions


def bottles(count):
    kind = torch.randint(0, 3, (count,))
    region = torch.randint(0, 2, (count,))
    return centres[kind, region] + 0.65 * torch.randn(count, 12), kind


train_set = TensorDataset(*bottles(1200))
test_x, test_y = bottles(400)
loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True)


class Sommelier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 48)
        self.middle = nn.Linear(48, 24)
        self.out = nn.Linear(24, 3)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        x = torch.relu(self.middle(x))
        return self.out(x)


model = Sommelier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for features, kind in loader:
        optimizer.zero_grad()
        loss = criterion(model(features), kind)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(loader):.3f}")

model.eval()
with torch.no_grad():
    hits = (model(test_x).argmax(dim=1) == test_y).float().mean().item()
print(f"test accuracy {hits:.3f}")
