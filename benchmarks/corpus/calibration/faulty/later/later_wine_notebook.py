# %% imports
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(7)
np.random.seed(7)

# %% data
X, y = load_wine(return_X_y=True)
print("wine:", X.shape, "classes:", np.bincount(y))

X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=3
)

scaler = StandardScaler()
X_train_s = scaler.fit_transform(X_train)
X_test_s = scaler.transform(X_test)

Xtr = torch.tensor(X_train_s, dtype=torch.float32)
ytr = torch.tensor(y_train, dtype=torch.long)
Xte = torch.tensor(X_test, dtype=torch.float32)
yte = torch.tensor(y_test, dtype=torch.long)

# class weights, the classes are a bit uneven
counts = torch.bincount(ytr).float()
class_w = counts.sum() / (len(counts) * counts)
print("class weights:", class_w.tolist())

# %% model
model = nn.Sequential(
    nn.Linear(13, 48),
    nn.LayerNorm(48),
    nn.SiLU(),
    nn.Dropout(0.2),
    nn.Linear(48, 24),
    nn.SiLU(),
    nn.Linear(24, 3),
)
nn.init.zeros_(model[-1].weight)   # start from uniform predictions
nn.init.zeros_(model[-1].bias)

decay, no_decay = [], []
for name, p in model.named_parameters():
    (decay if p.ndim > 1 else no_decay).append(p)
opt = torch.optim.SGD(
    [{"params": decay, "weight_decay": 1e-3}, {"params": no_decay, "weight_decay": 0.0}],
    lr=0.05, momentum=0.9, nesterov=True,
)

# %% train
EPOCHS = 80
BS = 16
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS)
history = []

for epoch in range(EPOCHS):
    model.train()
    perm = torch.randperm(len(Xtr))
    total, hits = 0.0, 0
    for k in range(0, len(Xtr), BS):
        idx = perm[k:k + BS]
        out = model(Xtr[idx])
        loss = F.cross_entropy(out, ytr[idx], weight=class_w, label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        hits += (out.argmax(1) == ytr[idx]).sum().item()
    sched.step()

    model.eval()
    with torch.no_grad():
        te_out = model(Xte)
        te_loss = F.cross_entropy(te_out, yte).item()
        te_acc = (te_out.argmax(1) == yte).float().mean().item()
    history.append((total / len(Xtr), te_loss))
    if epoch % 10 == 0 or epoch == EPOCHS - 1:
        print(f"epoch {epoch:3d}  train loss {total/len(Xtr):.4f}  train acc {hits/len(Xtr):.3f}"
              f"  test loss {te_loss:.4f}  test acc {te_acc:.3f}")

# %% confusion matrix
pred = te_out.argmax(1)
cm = torch.zeros(3, 3, dtype=torch.long)
for t, p in zip(yte, pred):
    cm[t, p] += 1
print(cm)
print("final test accuracy: %.3f" % te_acc)
