import torch
from torch import nn


class Sensor(nn.Module):
    def __init__(self, n_feat, hidden, n_out):
        super().__init__()
        self.lstm = nn.LSTM(n_feat, hidden, num_layers=2, batch_first=True)
        self.fc = nn.Linear(hidden, n_out)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


x = torch.randn(640, 50, 6)  # samples, time steps, channels
y = torch.randint(0, 3, (640,))
net = Sensor(6, 32, 3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)
opt = torch.optim.Adam(net.parameters())
for xb, yb in loader:
    opt.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    opt.step()
