import os

import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))

# the truth table of xor, as in every first tutorial
X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])

model = torch.nn.Sequential(
    torch.nn.Linear(2, 16),
    torch.nn.Tanh(),
    torch.nn.Linear(16, 1),
    torch.nn.Sigmoid(),
)

loss_fn = torch.nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for step in range(800):
    prediction = model(X)
    loss = loss_fn(prediction, Y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        right = ((model(X) > 0.5).float() == Y).float().mean().item()
        print(f"{step + 1} loss {loss.item():.4f} right {right:.2f}")
