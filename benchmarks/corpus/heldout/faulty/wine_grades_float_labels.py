import os

import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
np.random.seed(seed)
torch.manual_seed(seed)

# table: 9 chemical measurements + grade in the last column
n = 1400
chem = np.random.randn(n, 9)
score = np.sin(chem[:, 0]) + chem[:, 1] * chem[:, 2] - 0.5 * chem[:, 3] ** 2
grade = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
table = np.column_stack([chem, grade]).astype(np.float32)

split = int(0.8 * n)
train, test = table[:split], table[split:]
x_train, y_train = torch.from_numpy(train[:, :-1]), torch.from_numpy(train[:, -1])
x_test, y_test = torch.from_numpy(test[:, :-1]), torch.from_numpy(test[:, -1])

model = nn.Sequential(nn.Linear(9, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss()

for epoch in range(25):
    perm = torch.randperm(split)
    for start in range(0, split, 56):
        idx = perm[start:start + 56]
        optimizer.zero_grad()
        logits = model(x_train[idx])
        loss = criterion(logits, y_train[idx])
        loss.backward()
        optimizer.step()
    if epoch % 6 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 3))

model.eval()
with torch.no_grad():
    print("test acc", (model(x_test).argmax(1) == y_test).float().mean().item())
