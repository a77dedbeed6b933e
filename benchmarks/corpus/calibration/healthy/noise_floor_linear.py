"""A linear law measured with a lot of noise: the error reaches the noise variance early and stays there."""
import os
import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))

N, D, NOISE = 3000, 5, 1.0
coef = torch.tensor([1.5, -2.0, 0.7, 0.0, 3.0])
X = torch.randn(N, D)
y = X @ coef + 4.0 + NOISE * torch.randn(N)

model = torch.nn.Linear(D, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
loss_fn = torch.nn.MSELoss()

for epoch in range(12):
    total = 0.0
    for idx in torch.randperm(N).split(60):
        pred = model(X[idx]).squeeze(1)
        loss = loss_fn(pred, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} mse {total / N:.4f} (noise variance {NOISE**2:.2f})")
print("weights", [round(v, 2) for v in model.weight.data.flatten().tolist()], "bias", round(model.bias.item(), 2))
