"""Self-supervised: two views of one sample, predictor and stop-gradient; features checked with a linear probe."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class SimNet(nn.Module):
    def __init__(self, d, feat=32):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(d, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, feat, bias=False), nn.BatchNorm1d(feat)
        )
        self.predictor = nn.Sequential(nn.Linear(feat, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, feat))

    def forward(self, v1, v2):
        z1, z2 = self.backbone(v1), self.backbone(v2)
        return self.predictor(z1), self.predictor(z2), z1.detach(), z2.detach()


def view(x):
    noisy = x + 0.4 * torch.randn_like(x)
    return noisy * (torch.rand_like(x) > 0.2)


def samples(n, protos):
    y = torch.randint(0, len(protos), (n,))
    return protos[y] + 0.5 * torch.randn(n, protos.size(1)), y


def probe(features, y, test_features, y_test):
    clf = nn.Linear(features.size(1), 6)
    opt = torch.optim.Adam(clf.parameters(), lr=0.05)
    for _ in range(80):
        opt.zero_grad()
        F.cross_entropy(clf(features), y).backward()
        opt.step()
    return (clf(test_features).argmax(1) == y_test).float().mean().item()


torch.manual_seed(int(os.environ.get("SEED", "0")))
protos = torch.randn(6, 24)
x, y = samples(1500, protos)
x_test, y_test = samples(400, protos)
net = SimNet(24)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(12):
    net.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(125):
        p1, p2, z1, z2 = net(view(x[idx]), view(x[idx]))
        loss = -0.5 * (F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean())
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} similarity loss {tot / 12:.4f} feature std {F.normalize(z1, dim=1).std(0).mean():.3f}")
net.eval()
with torch.no_grad():
    f, ft = net.backbone(x), net.backbone(x_test)
print(f"linear probe accuracy {probe(f, y, ft, y_test):.3f}")
