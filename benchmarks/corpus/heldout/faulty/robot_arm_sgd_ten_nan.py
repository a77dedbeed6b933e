import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class ArmModel(nn.Module):
    """Forward kinematics of a 3-joint planar arm."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.xy = nn.Linear(64, 2)

    def forward(self, q):
        return self.xy(self.trunk(q))


def kinematics(n):
    q = (torch.rand(n, 3) * 2 - 1) * 1.6
    a = q.cumsum(1)
    lengths = torch.tensor([1.0, 0.8, 0.5])
    return q, torch.stack([(lengths * a.cos()).sum(1), (lengths * a.sin()).sum(1)], 1)


def training_loop(model, data, epochs=10, batch=50):
    q, xy = data
    sgd = torch.optim.SGD(model.parameters(), lr=10.0)
    for e in range(epochs):
        epoch_loss = 0.0
        for idx in torch.randperm(len(q)).split(batch):
            sgd.zero_grad()
            err = nn.functional.mse_loss(model(q[idx]), xy[idx])
            err.backward()
            sgd.step()
            epoch_loss += err.item() * len(idx)
        print("epoch", e, "mse", epoch_loss / len(q))


model = ArmModel()
training_loop(model, kinematics(1500))
q, xy = kinematics(300)
model.eval()
with torch.no_grad():
    print("test mse", nn.functional.mse_loss(model(q), xy).item())
