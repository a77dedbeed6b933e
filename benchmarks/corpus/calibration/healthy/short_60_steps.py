import os
import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))

centers = torch.randn(6, 10) * 1.5
labels = torch.randint(0, 6, (4000,))
data = centers[labels] + torch.randn(4000, 10)

model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 6))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = torch.nn.CrossEntropyLoss()

for step in range(60):
    i = torch.randint(0, 3500, (128,))
    loss = loss_fn(model(data[i]), labels[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 14:
        print(step + 1, round(loss.item(), 4))

with torch.no_grad():
    print("held-out accuracy", (model(data[3500:]).argmax(1) == labels[3500:]).float().mean().item())
