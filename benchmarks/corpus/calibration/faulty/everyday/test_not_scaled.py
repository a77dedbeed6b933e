import os

import torch
from torch import nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(int(os.environ.get("SEED", 0)))
X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_train, X_test = torch.tensor(X_train).float(), torch.tensor(X_test).float()
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)
model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(40):
    model.train()
    for i in torch.randperm(len(X_train)).split(16):
        loss = nn.functional.cross_entropy(model(X_train[i]), y_train[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(X_test).argmax(1) == y_test).float().mean().item()
    if epoch % 8 == 7:
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {acc:.4f}")
