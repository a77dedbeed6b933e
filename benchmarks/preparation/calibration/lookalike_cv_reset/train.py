import copy

import h5py
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import KFold

torch.manual_seed(6)

with h5py.File("vibration.h5") as f:
    X = torch.from_numpy(f["signal"][:]).unsqueeze(1)
    y = torch.from_numpy(f["state"][:])

net = nn.Sequential(
    nn.Conv1d(1, 16, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(16, 16, 9, padding=4), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
    nn.Flatten(), nn.Linear(64, 3))
print(net)
start = copy.deepcopy(net.state_dict())

accs, truth, guess = [], [], []
for fold, (tr, te) in enumerate(KFold(4, shuffle=True, random_state=6).split(X)):
    net.load_state_dict(start)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    tr, te = torch.from_numpy(tr), torch.from_numpy(te)
    for epoch in range(12):
        net.train()
        for b in tr[torch.randperm(len(tr))].split(25):
            loss = nn.functional.cross_entropy(net(X[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        p = net(X[te]).argmax(1)
    accs.append((p == y[te]).float().mean().item())
    truth += y[te].tolist()
    guess += p.tolist()
    print(f"fold {fold}: last loss {loss.item():.3f} accuracy {accs[-1]:.3f}")
confusion = confusion_matrix(truth, guess)
print(confusion)
print(f"mean accuracy {np.mean(accs):.3f} +- {np.std(accs):.3f}")
