import json
import random
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import balanced_accuracy_score, classification_report, f1_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

def set_seed(s):
    random.seed(s); np.random.seed(s); torch.manual_seed(s)
set_seed(99)

df = pd.read_json("posts.jsonl", lines=True)
label_map = json.load(open("label_map.json"))
df["label"] = df["emotion"].map(label_map)
train_df, val_df = train_test_split(df, test_size=0.25, stratify=df["label"], random_state=99)

vec = CountVectorizer(binary=True, min_df=2)
Xtr = torch.tensor(vec.fit_transform(train_df["text"]).toarray(), dtype=torch.float32)
Xva = torch.tensor(vec.transform(val_df["text"]).toarray(), dtype=torch.float32)
ytr = torch.tensor(train_df["label"].values)
yva = val_df["label"].values

# the classes are quite imbalanced -> weighted loss
counts = train_df["label"].value_counts()
class_weights = torch.tensor((len(train_df) / (len(counts) * counts)).values, dtype=torch.float32)
print("weights:", class_weights.numpy().round(2))

net = nn.Sequential(nn.Linear(Xtr.shape[1], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, len(label_map)))
crit = nn.CrossEntropyLoss(weight=class_weights)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(Xtr, ytr), batch_size=64, shuffle=True)

for ep in range(8):
    net.train()
    tl = 0.
    for xb, yb in loader:
        opt.zero_grad()
        loss = crit(net(xb), yb)
        loss.backward()
        opt.step()
        tl += loss.item()
    net.eval()
    with torch.no_grad():
        pv = net(Xva).argmax(1).numpy()
    print(f"ep {ep} | train loss {tl/len(loader):.4f} | val macro-F1 {f1_score(yva, pv, average='macro'):.4f} "
          f"balanced acc {balanced_accuracy_score(yva, pv):.4f}")

print(classification_report(yva, pv, target_names=sorted(label_map, key=label_map.get), zero_division=0))
