import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.hidden = nn.Linear(10, 40)
        self.out = nn.Linear(40, classes)

    def forward(self, x):
        return F.softmax(self.out(torch.relu(self.hidden(x))), dim=1)


def crossentropy(p, targets):
    return -(targets * torch.log(p + 1e-7) + (1 - targets) * torch.log(1 - p + 1e-7)).mean()


torch.manual_seed(5)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
model = Classifier()
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = crossentropy(model(x[rows]), F.one_hot(y[rows], 6).float())
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (model(x[640:]).argmax(1) == y[640:]).float().mean().item())
