import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(int(os.environ.get("SEED", "1")))

proto = (torch.rand(8, 100) > 0.6).float()
labels = torch.randint(0, 8, (2400,))
images = (proto[labels] + 0.4 * torch.randn(2400, 100)).view(-1, 1, 10, 10)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=3)
        self.fc1 = nn.Linear(160, 50)
        self.fc2 = nn.Linear(50, 8)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = x.view(-1, 160)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


network = Net()
n_epochs = 1
batch_size_train = 40
learning_rate = 1e-4
momentum = 0.5
optimizer = optim.SGD(network.parameters(), lr=learning_rate, momentum=momentum)

for epoch in range(1, n_epochs + 1):
    shuffled = torch.randperm(2000)
    for start in range(0, 2000, batch_size_train):
        rows = shuffled[start:start + batch_size_train]
        optimizer.zero_grad()
        output = network(images[rows])
        loss = F.nll_loss(output, labels[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        test = F.nll_loss(network(images[2000:]), labels[2000:])
    print(f"epoch {epoch} loss {test.item():.4f}")
