import os

import torch
from torch import nn

RANDOM_SEED = int(os.environ.get("SEED", "42"))
torch.manual_seed(RANDOM_SEED)

n_samples = 800
angle = torch.rand(n_samples) * 6.2832
inner = torch.arange(n_samples) % 2
radius = torch.where(inner == 1, 0.5, 1.0) + 0.05 * torch.randn(n_samples)
X = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
y = inner.float()

X_train, X_test, y_train, y_test = X[:640], X[640:], y[:640], y[640:]


class CircleModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_1 = nn.Linear(in_features=2, out_features=32)
        self.layer_2 = nn.Linear(in_features=32, out_features=32)
        self.layer_3 = nn.Linear(in_features=32, out_features=1)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.layer_3(self.relu(self.layer_2(self.relu(self.layer_1(x)))))


model = CircleModel()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

epochs = 300
for epoch in range(epochs):
    model.train()
    y_logits = model(X_train).squeeze()
    loss = loss_fn(y_logits, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.inference_mode():
        test_logits = model(X_test).squeeze()
        test_loss = loss_fn(test_logits, y_test)
        test_acc = ((test_logits > 0).float() == y_test).float().mean()
    if epoch % 50 == 0:
        print(f"Epoch: {epoch} | Loss: {loss:.5f} | Test loss: {test_loss:.5f}")

print(f"loss {loss.item():.4f} test accuracy {test_acc.item():.3f}")
