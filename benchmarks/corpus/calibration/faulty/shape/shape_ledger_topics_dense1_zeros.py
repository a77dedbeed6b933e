import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)

WORDS, TOPICS = 700, 20
topic_words = rng.dirichlet(np.full(WORDS, 0.04), size=TOPICS)
common = rng.dirichlet(np.full(WORDS, 0.6))
frequency = 1.0 / np.arange(1, TOPICS + 1) ** 1.3
frequency /= frequency.sum()


def entries(n):
    """Which words stand in a ledger entry; a few topics are written about most of the time."""
    topics = rng.choice(TOPICS, n, p=frequency)
    bags = np.zeros((n, WORDS), dtype=np.float32)
    for row, topic in enumerate(topics):
        bags[row, rng.choice(WORDS, size=50, p=0.4 * topic_words[topic] + 0.6 * common)] = 1.0
    return torch.from_numpy(bags), torch.from_numpy(topics)


class TopicNet(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.dense1 = nn.Linear(WORDS, hidden)
        self.dense2 = nn.Linear(hidden, TOPICS)
        self.drop = nn.Dropout(0.3)
        nn.init.zeros_(self.dense1.weight)
        nn.init.zeros_(self.dense1.bias)

    def forward(self, x):
        x = torch.relu(self.dense1(x))
        x = self.drop(x)
        return self.dense2(x)


train_set = TensorDataset(*entries(3000))
test_x, test_y = entries(600)
loader = DataLoader(train_set, batch_size=32, shuffle=True)
net = TopicNet()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(6):
    net.train()
    total = 0.0
    for bags, topics in loader:
        opt.zero_grad()
        prediction = net(bags)
        loss = criterion(prediction, topics)
        loss.backward()
        opt.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
    print("epoch", epoch + 1, "loss", round(total / len(loader), 4), "test accuracy", round(accuracy, 3))
