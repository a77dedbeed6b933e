# SimCLR in miniature on the 8x8 digits, then a linear probe with very few labels.
# phase 1: InfoNCE, no labels (SGD -> LARS is overkill here, AdamW is fine)
# phase 2: encoder frozen in eval mode, full-batch L-BFGS on 5 labels per class
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(8)
digits = load_digits()
X = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
y = torch.tensor(digits.target)
perm = torch.randperm(len(X))
Xtr, ytr, Xte, yte = X[perm[:1300]], y[perm[:1300]], X[perm[1300:]], y[perm[1300:]]

def augment(x):
    n = len(x)
    # small random affine map
    ang = (torch.rand(n) - .5) * 0.7
    scale = 1 + (torch.rand(n) - .5) * 0.3
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = scale * ang.cos(); theta[:, 0, 1] = -scale * ang.sin()
    theta[:, 1, 0] = scale * ang.sin(); theta[:, 1, 1] = scale * ang.cos()
    theta[:, :, 2] = (torch.rand(n, 2) - .5) * 0.4
    x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)
    return x * (0.7 + 0.6 * torch.rand(n, 1, 1, 1)) + 0.08 * torch.randn_like(x)

def make_encoder():
    return nn.Sequential(
        nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU(),
        nn.Flatten(), nn.Linear(48 * 16, 64), nn.ReLU())

def info_nce(a, b, tau=0.4):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(float('-inf'))         # a sample is not its own negative
    n = len(a)
    target = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, target), (sim.argmax(1) == target).float().mean()

g = torch.Generator().manual_seed(0)
few_sets = []                                  # five different draws of 50 labelled images
for _ in range(5):
    order = torch.randperm(len(ytr), generator=g)
    few_sets.append(torch.cat([order[ytr[order] == c][:5] for c in range(10)]))

def probe(feat_tr, feat_te):
    """multinomial logistic regression on the few labelled examples, mean accuracy over the draws"""
    mu, sd = feat_tr.mean(0), feat_tr.std(0) + 1e-2
    f, g = (feat_tr - mu) / sd, (feat_te - mu) / sd
    accs = []
    for few in few_sets:
        lin = nn.Linear(f.shape[1], 10)
        nn.init.zeros_(lin.weight); nn.init.zeros_(lin.bias)
        opt = torch.optim.LBFGS(lin.parameters(), max_iter=40, line_search_fn='strong_wolfe')
        def closure():
            opt.zero_grad()
            loss = F.cross_entropy(lin(f[few]), ytr[few]) + 1e-2 * lin.weight.pow(2).sum()
            loss.backward()
            return loss
        opt.step(closure)
        with torch.no_grad():
            accs.append((lin(g).argmax(1) == yte).float().mean().item())
    return sum(accs) / len(accs)

@torch.no_grad()
def embed(enc, x):
    enc.eval()
    return enc(x)

enc = make_encoder()
proj = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))     # thrown away afterwards
acc_pix = probe(Xtr.flatten(1), Xte.flatten(1))
acc_rand = probe(embed(enc, Xtr), embed(enc, Xte))
print(f'50 labels: raw pixels {acc_pix:.3f}, untrained encoder {acc_rand:.3f}')

BS, EPOCHS = 130, 21
params = list(enc.parameters()) + list(proj.parameters())
opt = torch.optim.AdamW(params, lr=4e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * (len(Xtr) // BS))
print(f'chance level of the loss: log({2 * BS - 1}) = {math.log(2 * BS - 1):.3f}')
for ep in range(EPOCHS):
    enc.train(); proj.train()
    tot = hit = 0.
    batches = torch.randperm(len(Xtr)).split(BS)
    for b in batches:
        loss, acc = info_nce(proj(enc(augment(Xtr[b]))), proj(enc(augment(Xtr[b]))))
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        tot += loss.item(); hit += acc.item()
    if ep % 3 == 2:
        print(f'epoch {ep + 1:2d} InfoNCE {tot / len(batches):.3f} pair acc {hit / len(batches):.3f}')

for p in enc.parameters():
    p.requires_grad_(False)
print(f'50 labels: SimCLR features {probe(embed(enc, Xtr), embed(enc, Xte)):.3f} (raw pixels {acc_pix:.3f}, untrained {acc_rand:.3f})')
