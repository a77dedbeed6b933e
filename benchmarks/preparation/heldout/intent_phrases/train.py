"""Intent classifier for short commands, bag of words."""
import csv
import random

import numpy as np
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

random.seed(0)
torch.manual_seed(0)
COPIES = 5


def read(path):
    with open(path, newline="") as fh:
        rows = list(csv.DictReader(fh, delimiter="\t"))
    return [r["phrase"] for r in rows], [r["intent"] for r in rows]


def vary(phrase):
    words = [w for w in phrase.split() if random.random() > 0.15] or phrase.split()
    i, j = random.randrange(len(words)), random.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def augment(phrases, intents, copies):
    new_p, new_i = list(phrases), list(intents)
    for p, it in zip(phrases, intents):
        for _ in range(copies):
            new_p.append(vary(p))
            new_i.append(it)
    return new_p, new_i


phrases, intents = read("phrases.tsv")
print(len(phrases), "phrases")
phrases, intents = augment(phrases, intents, COPIES)
print(len(phrases), "after augmentation")

p_train, p_test, i_train, i_test = train_test_split(
    phrases, intents, test_size=0.2, random_state=0, stratify=intents)

vec = CountVectorizer(binary=True).fit(p_train)
le = LabelEncoder().fit(i_train)
to_x = lambda p: torch.from_numpy(vec.transform(p).toarray().astype(np.float32))
x_train, y_train = to_x(p_train), torch.from_numpy(le.transform(i_train))
x_test, y_test = to_x(p_test), torch.from_numpy(le.transform(i_test))

model = nn.Sequential(nn.Dropout(0.2), nn.Linear(x_train.shape[1], 48), nn.ReLU(), nn.Linear(48, len(le.classes_)))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)
for epoch in range(12):
    model.train()
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} last batch loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    acc = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"{len(y_test)} test phrases, accuracy {acc:.3f}")
