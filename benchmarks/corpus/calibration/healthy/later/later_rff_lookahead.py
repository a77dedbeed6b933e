# Kernel machine by random Fourier features: the features are FROZEN and random on purpose, only the
# (zero-initialised) linear layer is trained.  The problem is convex and the centred features have a tiny
# covariance, so the curvature is tiny too -> enormous learning rates are fine (bound printed below).
# Lookahead (Zhang et al. 2019) wrapped around SGD, by hand.
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class Lookahead:
    def __init__(self, base, k=5, alpha=0.5):
        self.base, self.k, self.alpha, self.n = base, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in base.param_groups]

    def zero_grad(self):
        self.base.zero_grad()

    @torch.no_grad()
    def step(self):
        self.base.step()
        self.n += 1
        if self.n % self.k == 0:
            for g, slow in zip(self.base.param_groups, self.slow):
                for p, s in zip(g["params"], slow):
                    s += self.alpha * (p - s)
                    p.copy_(s)


class RandomFourierClassifier(torch.nn.Module):
    def __init__(self, d, n_feat, n_cls, gamma):
        super().__init__()
        self.register_buffer("omega", torch.randn(d, n_feat) * (2 * gamma) ** 0.5)
        self.register_buffer("phase", 2 * np.pi * torch.rand(n_feat))
        self.register_buffer("centre", torch.zeros(n_feat))
        self.lin = torch.nn.Linear(n_feat, n_cls)
        torch.nn.init.zeros_(self.lin.weight)
        torch.nn.init.zeros_(self.lin.bias)

    def features(self, x):
        return (2 / self.omega.shape[1]) ** 0.5 * torch.cos(x @ self.omega + self.phase) - self.centre

    def forward(self, x):
        return self.lin(self.features(x))


torch.manual_seed(1)
X, y = load_digits(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, random_state=1, stratify=y)
sc = StandardScaler().fit(Xtr)
Xtr_, Xte_ = sc.transform(Xtr), sc.transform(Xte)
lin = LogisticRegression(max_iter=300).fit(Xtr_, ytr).score(Xte_, yte)
Xtr, Xte = (torch.tensor(a, dtype=torch.float32) for a in (Xtr_, Xte_))
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

model = RandomFourierClassifier(64, 1500, 10, gamma=0.012)
with torch.no_grad():
    model.centre.copy_(model.features(Xtr).mean(0))
    phi = model.features(Xtr)
    top = torch.linalg.matrix_norm(phi.T @ phi / len(phi), 2).item()
# softmax cross-entropy: Hessian <= 1/2 * feature covariance
print(f"largest eigenvalue of the feature covariance {top:.4f} -> stable below lr = {2 / (0.5 * top):.0f}")

# the bias sees a constant feature of 1, give it its own, smaller rate
opt = Lookahead(torch.optim.SGD([
    {"params": [model.lin.weight], "lr": 20.0},
    {"params": [model.lin.bias], "lr": 0.5},
]))
lossf = torch.nn.CrossEntropyLoss()
for epoch in range(1, 31):
    tot, n = 0.0, 0
    for idx in torch.randperm(len(Xtr)).split(64):
        loss = lossf(model(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    if epoch <= 2 or epoch % 4 == 0:
        with torch.no_grad():
            acc = (model(Xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch:2d}: train loss {tot / len(Xtr):.4f}, test acc {acc:.4f}")
print(f"linear logistic regression on pixels: {lin:.4f}")
