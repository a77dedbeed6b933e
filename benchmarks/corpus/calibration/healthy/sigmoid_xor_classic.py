# The classic: XOR with a few sigmoid units, on noisy copies of the four corners.
import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
answers = torch.tensor([0.0, 1.0, 1.0, 0.0])


def draw(n):
    which = torch.randint(0, 4, (n,))
    return corners[which] + 0.12 * torch.randn(n, 2), answers[which].unsqueeze(1)


net = nn.Sequential(nn.Linear(2, 8), nn.Sigmoid(), nn.Linear(8, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)

for step in range(1, 401):
    x, y = draw(32)
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"step {step}: bce {loss.item():.4f}")

x, y = draw(1000)
with torch.no_grad():
    print("accuracy", ((net(x) > 0.5).float() == y).float().mean().item())
