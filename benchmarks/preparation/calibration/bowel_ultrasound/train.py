import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SEED = 2
EPOCHS = 9
rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)


class Frames(Dataset):
    def __init__(self, table):
        self.files = table["file"].tolist()
        self.labels = table["inflamed"].astype("float32").tolist()
        self.cache = {}

    def __len__(self):
        return len(self.files)

    def _read(self, i):
        if i not in self.cache:
            with Image.open(self.files[i]) as im:
                self.cache[i] = torch.from_numpy(np.array(im, dtype=np.float32) / 255.0)[None]
        return self.cache[i]

    def __getitem__(self, i):
        img = self._read(i)
        return (img - img.mean()) / (img.std() + 1e-5), torch.tensor(self.labels[i])


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


net = nn.Sequential(block(1, 16), block(16, 32), block(32, 32), nn.Flatten(), nn.Linear(32 * 25, 32), nn.ReLU(), nn.Linear(32, 1))

frames = pd.read_csv("frames.csv")
print(f"{len(frames)} frames of {frames.patient.nunique()} patients, {frames.inflamed.mean():.2f} inflamed")

held_out = rng.rand(len(frames)) < 0.25
train_df = frames[~held_out]
test_df = frames[held_out]

train_dl = DataLoader(Frames(train_df), batch_size=32, shuffle=True)
test_dl = DataLoader(Frames(test_df), batch_size=128)

optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = criterion(net(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * y.size(0)
    print("Epoch %2d | loss %.4f" % (epoch + 1, running / len(train_df)))

net.eval()
probs, truth = [], []
with torch.no_grad():
    for x, y in test_dl:
        probs.append(torch.sigmoid(net(x).squeeze(1)))
        truth.append(y)
probs, truth = torch.cat(probs), torch.cat(truth)
acc = ((probs > 0.5).float() == truth).float().mean().item()
print("Test accuracy %.3f on %d frames" % (acc, len(truth)))
