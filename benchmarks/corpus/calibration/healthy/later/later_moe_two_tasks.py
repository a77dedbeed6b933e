"""
Mixture of experts with top-2 routing, two tasks (regression + classification) balanced with
learned homoscedastic uncertainty (Kendall et al. 2018) -> the total loss can and does become negative.
"""
import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("moe")

HP = {
    "experts": 4,
    "width": 40,
    "optim": {"name": "adam", "lr": 8e-3, "lr_logvar": 2e-2},
    "balance": 0.1,
    "epochs": 36,
    "batch": 200,
}


def make_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 4, generator=g)
    region = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    a, b = x[:, 2], x[:, 3]
    table = torch.stack([a + b, a * b, torch.sin(2 * a) - b, b.abs() - a], 1)
    clean = table.gather(1, region[:, None]).squeeze(1)
    reg = clean + 0.1 * torch.randn(n, generator=g)
    cls = torch.stack([a > 0, b > 0, a + b > 0, a * b > 0], 1).gather(1, region[:, None]).squeeze(1)
    return x, reg, cls.float()


class Top2MoE(nn.Module):
    def __init__(self, d_in, d_out, n_experts, width):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d_in, 16), nn.Tanh(), nn.Linear(16, n_experts))
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, d_out))
            for _ in range(n_experts)
        )
        self.d_out = d_out

    def forward(self, x):
        logits = self.gate(x)
        if self.training:
            logits = logits + 0.3 * torch.randn_like(logits)      # exploration, as in noisy top-k gating
        probs = logits.softmax(-1)
        w, choice = probs.topk(2, dim=-1)
        w = w / w.sum(-1, keepdim=True)
        out = x.new_zeros(len(x), self.d_out)
        for k, expert in enumerate(self.experts):
            rows, slot = (choice == k).nonzero(as_tuple=True)
            if len(rows):                       # an expert may get nothing in a batch
                out = out.index_add(0, rows, w[rows, slot, None] * expert(x[rows]))
        # switch-transformer load balancing: fraction routed (no grad) * mean probability
        frac = F.one_hot(choice, len(self.experts)).float().mean((0, 1))
        aux = len(self.experts) * (frac * probs.mean(0)).sum()
        return out, aux, frac


class Model(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.moe = Top2MoE(4, 2, hp["experts"], hp["width"])
        self.log_var = nn.Parameter(torch.zeros(2))

    def losses(self, x, reg, cls):
        out, aux, frac = self.moe(x)
        l_reg = F.mse_loss(out[:, 0], reg)
        l_cls = F.binary_cross_entropy_with_logits(out[:, 1], cls)
        s = self.log_var
        total = 0.5 * (torch.exp(-s[0]) * l_reg + s[0]) + torch.exp(-s[1]) * l_cls + 0.5 * s[1]
        return total, aux, l_reg, l_cls, frac


def main(hp):
    torch.manual_seed(0)
    train, test = make_data(6000, 1), make_data(2000, 2)
    model = Model(hp)
    opt = torch.optim.Adam([
        {"params": model.moe.parameters(), "lr": hp["optim"]["lr"]},
        {"params": [model.log_var], "lr": hp["optim"]["lr_logvar"]},
    ])
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, hp["epochs"])
    log.info("predict-the-mean: test mse %.3f, majority acc %.3f", test[1].var(),
             max(test[2].mean().item(), 1 - test[2].mean().item()))
    for epoch in range(hp["epochs"]):
        model.train()
        acc = 0.0
        for idx in torch.randperm(6000).split(hp["batch"]):
            total, aux, *_ = model.losses(*(t[idx] for t in train))
            loss = total + hp["balance"] * aux
            opt.zero_grad()
            loss.backward()
            opt.step()
            acc += loss.item() * len(idx) / 6000
        sched.step()
        if epoch % 4 == 3:
            model.eval()
            with torch.no_grad():
                _, _, l_reg, _, frac = model.losses(*test)
                hit = ((model.moe(test[0])[0][:, 1] > 0) == test[2].bool()).float().mean()
            log.info("epoch %2d loss %+.4f | test mse %.4f acc %.4f | sigma^2 %s | load %s", epoch + 1, acc, l_reg, hit,
                     [round(v, 3) for v in model.log_var.exp().tolist()], [round(v, 2) for v in frac.tolist()])


if __name__ == "__main__":
    main(HP)
