import torch
from torch import nn

torch.manual_seed(3)
centres = torch.randn(5, 10)
y = torch.randint(0, 5, (840,))
x = centres[y] + torch.randn(840, 10)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
decayed = [p for n, p in model.named_parameters() if n.endswith("weight")]
plain = [p for n, p in model.named_parameters() if n.endswith("bias")]
opt = torch.optim.SGD(
    [
        {"params": decayed, "weight_decay": 2.0},
        {"params": plain, "weight_decay": 0.0},
    ],
    lr=0.05,
)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (model(x[640:]).argmax(1) == y[640:]).float().mean().item())
