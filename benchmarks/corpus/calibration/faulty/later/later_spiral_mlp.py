import math
import torch
import torch.nn as nn

torch.manual_seed(0)

# three interleaved spirals
n_per_class, n_classes = 300, 3
xs, ys = [], []
for c in range(n_classes):
    r = torch.linspace(0.05, 1.0, n_per_class)
    t = torch.linspace(c * 2 * math.pi / 3, c * 2 * math.pi / 3 + 4.0, n_per_class)
    t = t + torch.randn(n_per_class) * 0.12
    xs.append(torch.stack([r * torch.sin(t), r * torch.cos(t)], dim=1))
    ys.append(torch.full((n_per_class,), c, dtype=torch.long))
X, y = torch.cat(xs) * 2, torch.cat(ys)

perm = torch.randperm(len(X))
X, y = X[perm], y[perm]
X_train, y_train = X[:720], y[:720]
X_test, y_test = X[720:], y[720:]

model = nn.Sequential(
    nn.Linear(2, 64),
    nn.Linear(64, 64),
    nn.Linear(64, n_classes),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(60):
    order = torch.randperm(len(X_train))
    total = 0.0
    for i in range(0, len(order), 64):
        b = order[i:i + 64]
        optimizer.zero_grad()
        loss = criterion(model(X_train[b]), y_train[b])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(b)
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:3d}  loss {total / len(X_train):.4f}")

model.eval()
with torch.no_grad():
    acc = (model(X_test).argmax(1) == y_test).float().mean().item()
print(f"test accuracy: {acc:.3f}")
