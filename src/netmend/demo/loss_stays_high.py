import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
centres = 3 * torch.randn(6, 16)
labels = torch.randint(0, 6, (1200,))
samples = centres[labels] + torch.randn(1200, 16)
train = DataLoader(TensorDataset(samples[:1000], labels[:1000]), batch_size=50, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(16, 48)
        self.out = nn.Linear(48, 6)

    def forward(self, x):
        x = F.relu(self.hidden(x))
        return F.softmax(self.out(x), dim=1)


net = Classifier()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(15):
    for x, y in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1:2d}  loss {loss.item():.3f}")
net.eval()
with torch.no_grad():
    sure = net(samples[1000:]).max(1).values.mean()
print(
    f"accuracy {(net(samples[1000:]).argmax(1) == labels[1000:]).float().mean():.2f}, mean confidence {sure:.2f}"
)
