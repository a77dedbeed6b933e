import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
centres = torch.randn(6, 10) * 1.6
y = torch.randint(0, 6, (900,))
x = centres[y] + torch.randn(900, 10)
x_train, y_train, x_test, y_test = x[:700], y[:700], x[700:], y[700:]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 6)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.softmax(x, dim=1)


def objective(probs, labels):
    one_hot = F.one_hot(labels, 6).float()
    return F.mse_loss(probs, one_hot)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(15):
    order = torch.randperm(700)
    for i in range(0, 700, 32):
        rows = order[i : i + 32]
        optimizer.zero_grad()
        loss = objective(net(x_train[rows]), y_train[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x_test).argmax(1) == y_test).float().mean().item())
