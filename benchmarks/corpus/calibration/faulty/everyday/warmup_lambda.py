import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", 0)))
CFG = dict(base_lr=1e-3, warmup=200, epochs=12, batch=50)


class Encoder(nn.Module):
    def __init__(self, vocab, d=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.cls = nn.Linear(d, 2)

    def forward(self, x):
        return self.cls(self.enc(self.emb(x)).mean(1))


def data(n):
    x = torch.randint(0, 30, (n, 16))
    return x, ((x < 10).sum(1) > (x > 19).sum(1)).long()


x, y = data(1000)
xv, yv = data(300)
model = Encoder(30)
opt = torch.optim.AdamW(model.parameters(), lr=CFG["base_lr"])
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: s / CFG["warmup"] * 1e-3)
for epoch in range(CFG["epochs"]):
    for i in torch.randperm(1000).split(CFG["batch"]):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean()
    print(f"epoch {epoch} lr {opt.param_groups[0]['lr']:.2e} val acc {acc:.4f}")
