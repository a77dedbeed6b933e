# Leaf species from scans. My first CNN :)
import os
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from PIL import Image
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(0)

IMG_DIR = "leaves"
BATCH = 32
EPOCHS = 6

files = sorted(os.listdir(IMG_DIR))
labels_df = pd.read_csv("labels.csv").sort_values("image_id")
classes = sorted(labels_df["species"].unique())
targets = labels_df["species"].map({c: i for i, c in enumerate(classes)}).to_numpy()
print(len(files), "images,", len(targets), "labels, classes:", classes)
assert len(files) == len(targets)


class LeafDataset(Dataset):
    def __init__(self, names, y):
        self.names = names
        self.y = y

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        img = Image.open(os.path.join(IMG_DIR, self.names[i])).convert("L")
        x = np.array(img, dtype=np.float32) / 255.0
        return torch.from_numpy(x)[None], int(self.y[i])


tr_files, te_files, tr_y, te_y = train_test_split(
    files, targets, test_size=0.25, random_state=42, stratify=targets)
train_loader = DataLoader(LeafDataset(tr_files, tr_y), batch_size=BATCH, shuffle=True)
test_loader = DataLoader(LeafDataset(te_files, te_y), batch_size=BATCH)

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(16 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, len(classes)))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(yb)
    net.eval()
    good = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            good += (net(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch + 1}: train loss {running / len(tr_y):.4f}  test accuracy {good / len(te_y):.4f}")
