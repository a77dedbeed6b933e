import os

import torch
from torch import nn


class StreamLSTM(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.out(y), state


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    t = torch.arange(0, 2000) * 0.1
    rows = torch.stack([torch.sin(t * f) + 0.5 * torch.sin(2.3 * t * f) for f in (0.7, 0.9, 1.1, 1.3)])
    rows = rows + 0.05 * torch.randn_like(rows)
    model = StreamLSTM()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    chunk = 25
    for epoch in range(4):
        state = None
        losses = []
        for s in range(0, 1500, chunk):
            x = rows[:, s : s + chunk].unsqueeze(-1)
            y = rows[:, s + 1 : s + chunk + 1].unsqueeze(-1)
            pred, state = model(x, state)
            loss = loss_fn(pred, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: mse {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
