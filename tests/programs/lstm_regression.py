"""LSTM over a long series; the hidden state is carried from chunk to chunk and detached."""

import math

import torch
from common import finish, seed_everything
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out), state


def main():
    seed_everything(5)
    time = torch.arange(0, 401, dtype=torch.float32) * (2 * math.pi / 25)
    series = torch.stack([torch.sin(time), torch.cos(time)])
    model = Forecaster()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(2):
        state = None
        for start in range(0, 400, 20):
            x = series[:, start : start + 20, None]
            y = series[:, start + 1 : start + 21, None]
            prediction, state = model(x, state)
            state = tuple(s.detach() for s in state)
            loss = loss_fn(prediction, y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(epoch, start, repr(loss.item()))
    model.eval()
    with torch.no_grad():
        forecast, _ = model(series[:, :40, None])
        print("forecast", [repr(v) for v in forecast[0, -3:, 0].tolist()])
    finish(model, optimizer)


main()
