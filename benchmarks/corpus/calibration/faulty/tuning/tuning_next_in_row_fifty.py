"""An LSTM that continues a row of numbers: 10 20 30 -> 40."""
import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

raw = [10, 20, 30, 40, 50, 60, 70, 80, 90]
steps = 3
X, y = [], []
for i in range(len(raw) - steps):
    X.append(raw[i:i + steps])
    y.append(raw[i + steps])
X = torch.tensor(X, dtype=torch.float32).unsqueeze(-1)
y = torch.tensor(y, dtype=torch.float32).unsqueeze(-1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=50, batch_first=True)
        self.fc = nn.Linear(50, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(torch.relu(out[:, -1, :]))


model = Net()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(50):
    optimizer.zero_grad()
    output = model(X)
    loss = criterion(output, y)
    loss.backward()
    optimizer.step()
    if epoch % 250 == 0:
        print(f"Epoch {epoch} loss {loss.item():.4f}")

print(f"final loss {loss.item():.4f}")
print("70 80 90 ->", model(torch.tensor([[[70.], [80.], [90.]]])).item())
