"""Stage 1: learn pairwise interactions with plenty of data.
Stage 2: reuse the frozen backbone for a small eight-class problem."""
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_PAIRS = 8
DIM = 2 * N_PAIRS


def interactions(x):
    return (x[:, 0::2] * x[:, 1::2] > 0)


def make_inputs(n, gen):
    sign = torch.randint(0, 2, (n, DIM), generator=gen).float() * 2 - 1
    return sign + 0.2 * torch.randn(n, DIM, generator=gen)


def task_a(n, gen):
    x = make_inputs(n, gen)
    return x, interactions(x).float()


def task_b(n, gen):
    x = make_inputs(n, gen)
    u = interactions(x).long()
    return x, u[:, 1] * 4 + u[:, 4] * 2 + u[:, 6]


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.zeros_(m.bias)


class Backbone(nn.Module):
    def __init__(self, width=96, out=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(DIM, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, out), nn.ReLU(),
        )

    def forward(self, x):
        return self.layers(x)


class Model(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(32, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


def pretrain(gen):
    print("== stage 1")
    x, y = task_a(5000, gen)
    xv, yv = task_a(1000, gen)
    model = Model(N_PAIRS)
    model.apply(init_weights)
    loader = DataLoader(TensorDataset(x, y), batch_size=100, shuffle=True)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    epochs = 10
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for ep in range(epochs):
        for xb, yb in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(xb)
            loss = F.binary_cross_entropy_with_logits(out.float(), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        with torch.no_grad():
            acc = ((model(xv) > 0) == yv.bool()).float().mean()
        print(f"epoch {ep:2d} loss {loss.item():.4f} val bit accuracy {acc:.3f}")
    buf = io.BytesIO()
    torch.save(model.backbone.state_dict(), buf)
    buf.seek(0)
    return buf


def finetune(checkpoint, gen):
    print("== stage 2")
    x, y = task_b(240, gen)
    xt, yt = task_b(1000, gen)

    model = Model(n_out=8)
    model.backbone.load_state_dict(torch.load(checkpoint))
    model.head.apply(init_weights)
    for p in model.backbone.parameters():
        p.requires_grad = False

    params = [p for p in model.parameters() if p.requires_grad]
    print(f"training {sum(p.numel() for p in params)} of {sum(p.numel() for p in model.parameters())} parameters")
    opt = torch.optim.LBFGS(params, lr=1.0, max_iter=10, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y) + 1e-3 * model.head.weight.pow(2).sum()
        loss.backward()
        return loss

    for it in range(10):
        loss = opt.step(closure)
        with torch.no_grad():
            tr = (model(x).argmax(1) == y).float().mean()
            te = (model(xt).argmax(1) == yt).float().mean()
        print(f"round {it} loss {loss.item():.4f} train acc {tr:.3f} test acc {te:.3f}")
    return te.item()


if __name__ == "__main__":
    torch.manual_seed(21)
    gen = torch.Generator().manual_seed(21)
    ckpt = pretrain(gen)
    acc = finetune(ckpt, gen)
    print(f"task B test accuracy: {acc:.3f}")
