"""Small noisy data set, wide net, dropout of one half: training accuracy stays below the validation accuracy."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


class DropNet(nn.Module):
    def __init__(self, d, h=128, k=5, p=0.5):
        super().__init__()
        self.l1 = nn.Linear(d, h)
        self.l2 = nn.Linear(h, h)
        self.l3 = nn.Linear(h, k)
        self.p = p

    def forward(self, x):
        x = F.dropout(F.relu(self.l1(x)), self.p, self.training)
        x = F.dropout(F.relu(self.l2(x)), self.p, self.training)
        return self.l3(x)


centers = 1.1 * torch.randn(5, 20)
labels = torch.randint(0, 5, (1100,))
points = centers[labels] + 1.3 * torch.randn(1100, 20)
x_tr, y_tr, x_va, y_va = points[:600], labels[:600], points[600:], labels[600:]

net = DropNet(20)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(25):
    net.train()
    correct = 0
    for idx in torch.randperm(600).split(30):
        out = net(x_tr[idx])
        loss = F.cross_entropy(out, y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        correct += (out.argmax(1) == y_tr[idx]).sum().item()
    if epoch % 6 == 0:
        net.eval()
        with torch.no_grad():
            va = (net(x_va).argmax(1) == y_va).float().mean().item()
        print(f"epoch {epoch}: train acc (with dropout) {correct / 600:.3f}, val acc {va:.3f}")
