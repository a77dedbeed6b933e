import torch, torch.nn as nn, torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from sklearn.datasets import load_digits

torch.manual_seed(5)

# ---- data -------------------------------------------------------------------
d = load_digits()
X = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16 * 2 - 1
Y = torch.tensor(d.target)
p = torch.randperm(len(Y), generator=torch.Generator().manual_seed(0))
ntr = 1300
Xtr, Ytr, Xte, Yte = X[p[:ntr]], Y[p[:ntr]], X[p[ntr:]], Y[p[ntr:]]

# ---- model ------------------------------------------------------------------
def block(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(block(1, 16), block(16, 32, 2), block(32, 32))
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(32, 10)
    def forward(self, x):
        return self.fc(self.drop(self.f(x).mean((2, 3))))

net = Net()
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.95), use_buffers=True)

EPOCHS, BS = 22, 100
steps = EPOCHS * (ntr // BS)
decay, no_decay = [], []
for n_, p_ in net.named_parameters():
    (decay if p_.ndim > 1 else no_decay).append(p_)
opt = torch.optim.SGD([{'params': decay, 'weight_decay': 5e-4}, {'params': no_decay, 'weight_decay': 0.}],
                      lr=0.1, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.0, total_steps=steps, pct_start=0.3)   # super-convergence

def mixup(x, y, alpha=0.4):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    j = torch.randperm(len(x))
    t = F.one_hot(y, 10).float()
    return lam * x + (1 - lam) * x[j], lam * t + (1 - lam) * t[j]

@torch.no_grad()
def test_acc(m):
    m.eval()
    return (m(Xte).argmax(1) == Yte).float().mean().item()

for ep in range(EPOCHS):
    net.train()
    L = A = 0.
    perm = torch.randperm(ntr)[:ntr // BS * BS]
    for b in perm.view(-1, BS):
        x, t = mixup(Xtr[b], Ytr[b])
        with torch.autocast('cpu', dtype=torch.bfloat16):
            out = net(x)
        loss = F.cross_entropy(out.float(), t, label_smoothing=0.1)    # soft targets, cannot go to 0
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        ema.update_parameters(net)
        L += loss.item(); A += (out.argmax(1) == t.argmax(1)).float().mean().item()
    n = ntr // BS
    if ep % 2 == 1:
        print(f'ep {ep+1:2d} lr {sched.get_last_lr()[0]:.3f} train loss {L/n:.3f} train acc(mixed) {A/n:.3f} '
              f'| test raw {test_acc(net):.4f} ema {test_acc(ema):.4f}')

# ---- MC dropout: only the dropout layer is put back into train mode ----------
ema.eval()
for m in ema.modules():
    if isinstance(m, nn.Dropout):
        m.train()
with torch.no_grad():
    probs = torch.stack([ema(Xte).softmax(1) for _ in range(20)])
mean = probs.mean(0)
ent = -(mean * mean.clamp_min(1e-9).log()).sum(1)
wrong = mean.argmax(1) != Yte
cents = torch.stack([Xtr[Ytr == c].mean(0).flatten() for c in range(10)])
nc = (torch.cdist(Xte.flatten(1), cents).argmin(1) == Yte).float().mean().item()
print(f'MC dropout acc {1 - wrong.float().mean().item():.4f}; entropy right {ent[~wrong].mean():.3f}'
      f' / wrong {ent[wrong].mean():.3f}; nearest centroid {nc:.4f}')
