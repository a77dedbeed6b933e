import copy
import os

import numpy as np
import torch
import torch.nn as nn

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)

# ---- data -------------------------------------------------------------
n = 1500
area = np.random.uniform(30, 220, n)
rooms = np.clip((area / 30 + np.random.randn(n)).round(), 1, 8)
dist = np.random.exponential(6, n)
year = np.random.randint(1900, 2022, n)
price = 2200 * area * np.exp(-dist / 18) + 9000 * rooms + 350 * (year - 1900) * (area / 100)
price = price * (1 + 0.04 * np.random.randn(n))
feats = np.stack([area, rooms, dist, year], 1)

order = np.random.permutation(n)
i_tr, i_va, i_te = order[:1000], order[1000:1250], order[1250:]
mean, std = feats[i_tr].mean(0), feats[i_tr].std(0)
ymean, ystd = price[i_tr].mean(), price[i_tr].std()


def prep(ix):
    xs = torch.tensor((feats[ix] - mean) / std, dtype=torch.float32)
    ys = torch.tensor((price[ix] - ymean) / ystd, dtype=torch.float32)[:, None]
    return xs, ys


Xtr, ytr = prep(i_tr)
Xva, yva = prep(i_va)
Xte, yte = prep(i_te)

# ---- model ------------------------------------------------------------
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=4)
huber = nn.SmoothL1Loss()

best, best_state, bad = float("inf"), None, 0
for epoch in range(60):
    model.train()
    perm = torch.randperm(len(Xtr))
    for i in range(0, len(Xtr), 64):
        b = perm[i : i + 64]
        optimizer.zero_grad()
        loss = huber(model(Xtr[b]), ytr[b])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        vloss = huber(model(Xva), yva).item()
    scheduler.step(vloss)
    if vloss < best - 1e-5:
        best, best_state, bad = vloss, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad >= 12:
            print("early stop at epoch", epoch)
            break
    if epoch % 10 == 0:
        print(f"epoch {epoch} train {loss.item():.4f} val {vloss:.4f} lr {optimizer.param_groups[0]['lr']:.1e}")

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    err = (model(Xte) - yte).abs().mean().item() * ystd
print(f"test MAE {err:,.0f} EUR, mean price {ymean:,.0f}")
