# Diabetes within five years? Small MLP on clinic records.
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch import nn

RANDOM_STATE = 101
torch.manual_seed(RANDOM_STATE)

clinic = pd.read_csv("clinic.csv")
target = "outcome"
inputs = [c for c in clinic.columns if c != target]
print(clinic.isna().mean().round(2).to_dict())

gaps = ["glucose", "insulin", "skin_mm", "bmi"]
clinic[gaps] = clinic[gaps].fillna(clinic.groupby(target)[gaps].transform("median"))
train, test = train_test_split(clinic, test_size=0.3, random_state=RANDOM_STATE, stratify=clinic[target])
centre, spread = train[inputs].mean(), train[inputs].std()


def as_tensors(frame):
    return (
        torch.tensor(((frame[inputs] - centre) / spread).values, dtype=torch.float32),
        torch.tensor(frame[target].values, dtype=torch.float32),
    )


X_train, y_train = as_tensors(train)
X_test, y_test = as_tensors(test)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(len(inputs), 64)
        self.l2 = nn.Linear(64, 32)
        self.l3 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.l3(x).squeeze(1)


mlp = Mlp()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(mlp.parameters(), lr=2e-3, weight_decay=1e-4)
history = []
for epoch in range(50):
    mlp.train()
    perm = torch.randperm(len(X_train))
    for start in range(0, len(perm), 32):
        sel = perm[start:start + 32]
        optimizer.zero_grad()
        loss = loss_fn(mlp(X_train[sel]), y_train[sel])
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    if (epoch + 1) % 10 == 0:
        print("epoch", epoch + 1, "loss", round(float(np.mean(history[-30:])), 4))

mlp.eval()
with torch.no_grad():
    decided = (mlp(X_test) > 0).float()
print("accuracy:", round((decided == y_test).float().mean().item(), 4))
print("sensitivity:", round((decided[y_test == 1]).mean().item(), 4))
