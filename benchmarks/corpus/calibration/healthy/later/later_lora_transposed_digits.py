# Pretrain a small MLP on the 8x8 digits, then adapt it to *transposed* digits with LoRA only.
# The backbone stays frozen, B starts at zero (so the adapted model == the base model at step 0).
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

SEED = 1234
torch.manual_seed(SEED)

CFG = {
    "pretrain": {"epochs": 10, "lr": 2e-3, "batch": 64},
    "lora": {"rank": 8, "alpha": 16, "epochs": 30, "lr": 5e-3, "micro_batch": 32, "accumulate": 2},
}

digits = load_digits()
X = torch.tensor(digits.images, dtype=torch.float32) / 16.0
y = torch.tensor(digits.target)
idx_tr, idx_te = train_test_split(range(len(y)), test_size=0.3, stratify=digits.target, random_state=0)

src_tr = TensorDataset(X[idx_tr].flatten(1), y[idx_tr])
src_te = TensorDataset(X[idx_te].flatten(1), y[idx_te])
XT = X.transpose(1, 2).contiguous()
tgt_tr = TensorDataset(XT[idx_tr].flatten(1), y[idx_tr])
tgt_te = TensorDataset(XT[idx_te].flatten(1), y[idx_te])


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)

    def merged(self):
        out = copy.deepcopy(self.base)
        out.weight.data += self.scale * self.B.data @ self.A.data
        return out


def build():
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10))


@torch.no_grad()
def accuracy(model, ds):
    model.eval()
    xb, yb = ds.tensors
    acc = (model(xb).argmax(-1) == yb).float().mean().item()
    model.train()
    return acc


# ---------------------------------------------------------------- phase 1
base = build()
c = CFG["pretrain"]
opt = torch.optim.AdamW(base.parameters(), lr=c["lr"])
for epoch in range(c["epochs"]):
    tot = 0.0
    for xb, yb in DataLoader(src_tr, batch_size=c["batch"], shuffle=True):
        loss = F.cross_entropy(base(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(xb)
    if epoch % 5 == 4:
        print(f"[pretrain] epoch {epoch + 1:2d} loss {tot / len(src_tr):.4f} test acc {accuracy(base, src_te):.4f}")

print(f"base model on transposed digits: {accuracy(base, tgt_te):.4f}")

# ---------------------------------------------------------------- phase 2
c = CFG["lora"]
frozen_copy = copy.deepcopy(base.state_dict())
model = nn.Sequential(*[LoRALinear(m, c["rank"], c["alpha"]) if isinstance(m, nn.Linear) else m for m in base])
lora_params = [p for p in model.parameters() if p.requires_grad]
n_all = sum(p.numel() for p in model.parameters())
n_train = sum(p.numel() for p in lora_params)
print(f"trainable {n_train} / {n_all} parameters ({100 * n_train / n_all:.1f}%)")

with torch.no_grad():
    assert torch.allclose(model(tgt_te.tensors[0]), base(tgt_te.tensors[0]))

opt = torch.optim.AdamW(lora_params, lr=c["lr"], weight_decay=0.0)
loader = DataLoader(tgt_tr, batch_size=c["micro_batch"], shuffle=True, drop_last=True)
steps_per_epoch = len(loader) // c["accumulate"]
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=c["epochs"] * steps_per_epoch)

for epoch in range(c["epochs"]):
    running, seen = 0.0, 0
    opt.zero_grad(set_to_none=True)
    for i, (xb, yb) in enumerate(loader):
        if i >= steps_per_epoch * c["accumulate"]:
            break                                # drop the incomplete accumulation window
        loss = F.cross_entropy(model(xb), yb)
        (loss / c["accumulate"]).backward()
        running += loss.item()
        seen += 1
        if (i + 1) % c["accumulate"] == 0:
            opt.step()
            sched.step()
            opt.zero_grad(set_to_none=True)
    if epoch % 5 == 4 or epoch == 0:
        bnorm = sum(m.B.norm().item() for m in model if isinstance(m, LoRALinear))
        print(f"[lora] epoch {epoch + 1:2d} loss {running / seen:.4f} |B| {bnorm:.2f} test acc {accuracy(model, tgt_te):.4f}")

merged = nn.Sequential(*[m.merged() if isinstance(m, LoRALinear) else m for m in model])
for k, v in frozen_copy.items():
    i, name = k.split(".")
    assert torch.equal(v, getattr(model[int(i)].base, name)), "backbone moved!"
print(f"final: transposed digits {accuracy(merged, tgt_te):.4f} (merged weights)")
