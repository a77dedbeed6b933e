# Homework 3 - predict whether a student passes the course
import csv
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(42)
torch.manual_seed(42)

# make the csv
n = 2000
hours = np.random.uniform(0, 40, n)
attendance = np.random.uniform(30, 100, n)
income = np.random.normal(60000, 15000, n)
sleep = np.random.normal(7, 1.2, n)
prev = np.random.uniform(40, 100, n)
score = (hours - 20) / 10 + (attendance - 65) / 20 + (prev - 70) / 20 - 0.6 * (sleep - 7) ** 2 + 0.8
passed = (score + 0.15 * np.random.randn(n) > 0).astype(int)
with open("students.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["hours", "attendance", "income", "sleep", "prev", "passed"])
    w.writerows(zip(hours, attendance, income, sleep, prev, passed))

# load it and split
data = np.loadtxt("students.csv", delimiter=",", skiprows=1, dtype=np.float32)
np.random.shuffle(data)
X, y = data[:, :5], data[:, 5:]
X_train, X_test, y_train, y_test = X[:1500], X[1500:], y[:1500], y[1500:]
mean, std = X_train.mean(axis=0), X_train.std(axis=0)
X_train = torch.from_numpy((X_train - mean) / std)
X_test = torch.from_numpy(X_test)
y_train, y_test = torch.from_numpy(y_train), torch.from_numpy(y_test)
train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(30):
    model.train()
    total = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        acc = ((model(X_test) > 0).float() == y_test).float().mean().item()
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch+1}: train loss {total / len(X_train):.4f}  test acc {acc:.4f}")

print("Final test accuracy:", round(acc, 4))
