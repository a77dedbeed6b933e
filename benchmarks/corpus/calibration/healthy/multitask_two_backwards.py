import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class SharedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.cls_head = nn.Linear(32, 3)
        self.reg_head = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls_head(h), self.reg_head(h).squeeze(-1)


x = torch.randn(2400, 8)
size = x[:, 0] ** 2 + x[:, 1] - 0.5 * x[:, 2] * x[:, 3]
kind = torch.bucketize(x[:, 4] + 0.7 * x[:, 5].abs(), torch.tensor([0.0, 1.0]))
xtr, str_, ktr = x[:2000], size[:2000], kind[:2000]
xte, ste, kte = x[2000:], size[2000:], kind[2000:]

net = SharedNet()
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()

for epoch in range(12):
    net.train()
    for b in torch.randperm(2000).split(64):
        optimizer.zero_grad()
        logits, value = net(xtr[b])
        loss_c = ce(logits, ktr[b])
        loss_r = mse(value, str_[b])
        # gradients of both tasks add up in .grad
        loss_c.backward(retain_graph=True)
        loss_r.backward()
        optimizer.step()
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad():
            logits, value = net(xte)
            acc = (logits.argmax(1) == kte).float().mean()
            r2 = 1 - mse(value, ste) / ste.var()
        print(f"epoch {epoch + 1}: ce {loss_c.item():.3f} mse {loss_r.item():.3f} | test acc {acc:.3f} R2 {r2:.3f}")
