import math
import os
import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))

hours = torch.rand(1000, 1) * 48
height = 1.8 * torch.sin(2 * math.pi * hours / 12.4) + 0.6 * torch.sin(2 * math.pi * hours / 24 + 1) + 0.1 * torch.randn(1000, 1)
harmonics = [torch.sin(2 * math.pi * k * hours / 48) for k in range(1, 7)]
harmonics += [torch.cos(2 * math.pi * k * hours / 48) for k in range(1, 7)]
X = torch.cat(harmonics, dim=1)

split = 800
model = torch.nn.Sequential(
    torch.nn.Linear(12, 64),
    torch.nn.ReLU(),
    torch.nn.Linear(64, 64),
    torch.nn.ReLU(),
    torch.nn.Linear(64, 1),
)
loss_fn = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=2.0, momentum=0.9)

for step in range(400):
    batch = torch.randint(0, split, (50,))
    loss = loss_fn(model(X[batch]), height[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print("step", step, "mse", loss.item())

model.eval()
with torch.no_grad():
    print("test mse %.4f" % loss_fn(model(X[split:]), height[split:]).item())
