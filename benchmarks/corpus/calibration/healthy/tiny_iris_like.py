# 90 flowers, 4 measurements, 3 species. Full batch, small net, mild weight decay.
import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

means = torch.tensor([[5.0, 3.4, 1.5, 0.25], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.1]])
sds = torch.tensor([[0.35, 0.38, 0.2, 0.1], [0.5, 0.3, 0.45, 0.2], [0.6, 0.3, 0.5, 0.27]])
y = torch.arange(3).repeat_interleave(50)
X = means[y] + sds[y] * torch.randn(150, 4)
perm = torch.randperm(150)
tr, te = perm[:90], perm[90:]
Xn = (X - X[tr].mean(0)) / X[tr].std(0)

net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=1e-3)
loss_fn = nn.CrossEntropyLoss()

for step in range(200):
    net.train()
    opt.zero_grad()
    loss = loss_fn(net(Xn[tr]), y[tr])
    loss.backward()
    opt.step()
    if step % 40 == 39:
        net.eval()
        with torch.no_grad():
            pred = net(Xn[te]).argmax(1)
        print(f"step {step + 1}  loss {loss.item():.4f}  test acc {(pred == y[te]).float().mean():.3f}")
