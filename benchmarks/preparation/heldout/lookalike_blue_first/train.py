"""Sort bottle caps by colour."""
import cv2
import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(77)
torch.manual_seed(77)

caps = pd.read_csv("caps.csv")
colours = sorted(caps["colour"].unique())
pictures = np.stack([cv2.imread(f"caps/{p}") for p in caps["picture"]])
target = caps["colour"].map(colours.index).to_numpy()

shuffled = rng.permutation(len(caps))
fit_rows, test_rows = shuffled[:450], shuffled[450:]
channel_mean = pictures[fit_rows].mean((0, 1, 2))
channel_std = pictures[fit_rows].std((0, 1, 2))
print("channel mean", channel_mean.round(1), "std", channel_std.round(1))


def prepare(rows):
    x = (pictures[rows] - channel_mean) / channel_std
    return torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2), torch.tensor(target[rows])


x_fit, y_fit = prepare(fit_rows)
x_test, y_test = prepare(test_rows)
net = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(),
                    nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, len(colours)))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(15):
    for rows in torch.randperm(len(x_fit)).split(30):
        flip = torch.rand(1).item() < 0.5
        xb = x_fit[rows].flip(3) if flip else x_fit[rows]
        loss = nn.functional.cross_entropy(net(xb), y_fit[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            acc = (net(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} test accuracy {acc:.3f}")


def colour_of(path):
    x = (cv2.imread(path) - channel_mean) / channel_std
    x = torch.tensor(x, dtype=torch.float32).permute(2, 0, 1)[None]
    return colours[net(x).argmax(1).item()]


for row in test_rows[:4]:
    print(caps["picture"][row], "is", caps["colour"][row], "said", colour_of("caps/" + caps["picture"][row]))
