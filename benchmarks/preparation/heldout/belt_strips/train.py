import albumentations as A
import cv2
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split

SEED = 13
torch.manual_seed(SEED)

table = pd.read_csv("inspection.csv", sep=";")
findings = ["ok", "hole", "scratch"]
table["y"] = table["finding"].map(findings.index)
train_t, test_t = train_test_split(table, test_size=0.25, stratify=table["y"], random_state=SEED)

SIDE = 40
base = [A.SmallestMaxSize(SIDE), A.CenterCrop(SIDE, SIDE), A.Normalize(mean=0.5, std=0.2)]
train_tf = A.Compose([A.VerticalFlip(p=0.5), A.RandomBrightnessContrast(0.1, 0.1, p=0.5)] + base, seed=SEED)
test_tf = A.Compose(base)


class Strips(torch.utils.data.Dataset):
    def __init__(self, t, tf):
        self.pics = [cv2.imread("strips/" + s, cv2.IMREAD_GRAYSCALE) for s in t["strip"]]
        self.y = t["y"].tolist()
        self.tf = tf

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        pic = self.tf(image=self.pics[i])["image"]
        return torch.as_tensor(pic, dtype=torch.float32)[None], self.y[i]


def conv(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.BatchNorm2d(o), nn.ReLU())


net = nn.Sequential(conv(1, 10, 2), conv(10, 20), conv(20, 24, 2),
                    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(24, len(findings)))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
train_dl = torch.utils.data.DataLoader(Strips(train_t, train_tf), batch_size=31, shuffle=True)
test_dl = torch.utils.data.DataLoader(Strips(test_t, test_tf), batch_size=155)

for epoch in range(10):
    net.train()
    for x, y in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        net.eval()
        with torch.no_grad():
            x, y = next(iter(test_dl))
            pred = net(x).argmax(1)
        print(f"epoch {epoch + 1}: last loss {loss.item():.3f}, test accuracy {(pred == y).float().mean().item():.3f}")
print(pd.crosstab(pd.Series(y.numpy(), name="true"), pd.Series(pred.numpy(), name="said")))
