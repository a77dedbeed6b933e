"""Sparse mixture-of-experts classifier on the digits data."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class SparseMoE(nn.Module):
    def __init__(self, dim, hidden, n_experts, k):
        super().__init__()
        self.k, self.n_experts = k, n_experts
        self.router = nn.Linear(dim, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(n_experts)])

    def forward(self, x):
        gate = F.softmax(self.router(x), dim=-1)
        top_w, top_i = gate.topk(self.k, dim=-1)
        top_w = top_w / top_w.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(top_i == e)
            if rows.numel() > 0:
                out.index_add_(0, rows, expert(x[rows]) * top_w[rows, slot].unsqueeze(1))
        # Switch-transformer style balance loss: 1.0 when perfectly balanced
        load = F.one_hot(top_i, self.n_experts).sum(1).float().mean(0) / self.k
        importance = gate.mean(0)
        balance = self.n_experts * (load * importance).sum()
        return out, balance, load


class MoEClassifier(nn.Module):
    def __init__(self, in_dim=64, dim=64, hidden=64, n_experts=4, k=2, n_classes=10, p_drop=0.1):
        super().__init__()
        self.embed = nn.Linear(in_dim, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.moe = SparseMoE(dim, hidden, n_experts, k)
        self.drop = nn.Dropout(p_drop)
        self.norm2 = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        h = F.gelu(self.embed(x))
        y, balance, load = self.moe(self.norm1(h))
        h = h + self.drop(y)
        return self.head(self.norm2(h)), balance, load


class Trainer:
    def __init__(self, model, data, lr=2e-3, wd=1e-2, aux_coef=0.01, batch_size=64, epochs=12):
        self.model = model
        self.x_tr, self.y_tr, self.x_va, self.y_va = data
        self.aux_coef, self.batch_size, self.epochs = aux_coef, batch_size, epochs
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=wd)

    def batches(self):
        perm = torch.randperm(len(self.x_tr))
        for start in range(0, len(perm), self.batch_size):
            sel = perm[start:start + self.batch_size]
            yield self.x_tr[sel], self.y_tr[start:start + self.batch_size]

    def train_one_epoch(self):
        self.model.train()
        ce_sum, bal_sum, n = 0.0, 0.0, 0
        for xb, yb in self.batches():
            self.opt.zero_grad()
            logits, balance, _ = self.model(xb)
            ce = F.cross_entropy(logits, yb)
            (ce + self.aux_coef * balance).backward()
            self.opt.step()
            ce_sum += ce.item() * len(xb)
            bal_sum += balance.item() * len(xb)
            n += len(xb)
        return ce_sum / n, bal_sum / n

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            logits, _, load = self.model(self.x_va)
            loss = F.cross_entropy(logits, self.y_va).item()
            acc = (logits.argmax(1) == self.y_va).float().mean().item()
        return loss, acc, load

    def fit(self):
        for ep in range(1, self.epochs + 1):
            ce, bal = self.train_one_epoch()
            vl, va, load = self.validate()
            if ep % 2 == 0:
                shares = " ".join(f"{v:.2f}" for v in load.tolist())
                print(f"ep {ep:02d} ce {ce:.4f} balance {bal:.3f} | val loss {vl:.4f} acc {va:.4f} | load {shares}")


def load_data(seed):
    X, y = load_digits(return_X_y=True)
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X_tr)
    f = lambda a: torch.from_numpy(scaler.transform(a)).float()
    return f(X_tr), torch.from_numpy(y_tr).long(), f(X_va), torch.from_numpy(y_va).long()


if __name__ == "__main__":
    SEED = 11
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    Trainer(MoEClassifier(), load_data(SEED)).fit()
