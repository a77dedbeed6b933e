"""Deep-equilibrium classifier on digits: z* = tanh(W z* + U x + b), implicit gradient through a tensor hook.
Training is interrupted half way, written to disk and resumed in fresh objects (simulates a preempted job)."""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def fixed_point(f, z, tol=1e-4, max_iter=60):
    for i in range(max_iter):
        z_next = f(z)
        err = (z_next - z).norm() / (z_next.norm() + 1e-8)
        z = z_next
        if err < tol:
            break
    return z, i + 1


class DEQ(nn.Module):
    def __init__(self, d_in=64, d=64, n_classes=10):
        super().__init__()
        self.W = nn.Parameter(torch.empty(d, d))
        nn.init.orthogonal_(self.W, gain=0.5)
        self.U = nn.Linear(d_in, d)
        self.head = nn.Linear(d, n_classes)
        self.n_forward = self.n_backward = 0

    def weight(self):
        # keep the map contractive: spectral norm <= 0.9
        s = torch.linalg.matrix_norm(self.W, ord=2)
        return self.W * torch.clamp(0.9 / s, max=1.0)

    def forward(self, x):
        inj = self.U(x)
        W = self.weight()
        f = lambda z: torch.tanh(z @ W.T + inj)
        with torch.no_grad():
            z, self.n_forward = fixed_point(f, torch.zeros_like(inj))
        z = f(z)   # one differentiable application, everything else is implicit
        if self.training:
            z0 = z.detach().requires_grad_()
            f0 = torch.tanh(z0 @ W.detach().T + inj.detach())

            def solve_adjoint(grad):
                g, self.n_backward = fixed_point(
                    lambda v: torch.autograd.grad(f0, z0, v, retain_graph=True)[0] + grad, grad, tol=1e-3)
                return g

            z.register_hook(solve_adjoint)
        return self.head(z)


def make():
    model = DEQ()
    opt = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9, nesterov=True)
    return model, opt


def run_epochs(model, opt, data, first, last):
    xtr, ytr, xte, yte = data
    for epoch in range(first, last):
        model.train()
        tot = 0.0
        for idx in torch.randperm(len(xtr)).split(128):
            loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            acc = (model(xte).argmax(1) == yte).float().mean()
        print(f"epoch {epoch:2d} loss {tot / len(xtr):.4f} test acc {acc:.4f} "
              f"(fp iterations fwd {model.n_forward}, bwd {model.n_backward})", flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    xtr, xte, ytr, yte = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    t = lambda a: torch.tensor(a / 16.0, dtype=torch.float32)
    data = t(xtr), torch.tensor(ytr), t(xte), torch.tensor(yte)

    model, opt = make()
    run_epochs(model, opt, data, 0, 8)

    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "ckpt.pt")
        torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": 8}, path)
        del model, opt
        model, opt = make()
        ck = torch.load(path)
        model.load_state_dict(ck["model"])
        opt.load_state_dict(ck["opt"])
        print("resumed from", os.path.basename(path), "at epoch", ck["epoch"])
    run_epochs(model, opt, data, ck["epoch"], 16)
