import argparse
import csv
import time

import torch
from sklearn.feature_extraction.text import HashingVectorizer


def load(path):
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    texts = [r["text"] for r in rows]
    labels = torch.tensor([float(r["positive"]) for r in rows])
    vec = HashingVectorizer(n_features=2**10, alternate_sign=False, norm="l2")
    x = torch.tensor(vec.fit_transform(texts).toarray(), dtype=torch.float32)
    return x, labels


ap = argparse.ArgumentParser(description="bag-of-words sentiment of restaurant reviews")
ap.add_argument("--epochs", type=int, default=10)
ap.add_argument("--lr", type=float, default=0.05)
opts = ap.parse_args()

torch.manual_seed(4)
start = time.perf_counter()
x_train, y_train = load("reviews_train.csv")
x_test, y_test = load("reviews_test.csv")
print(tuple(x_train.shape), tuple(x_test.shape))

weights = torch.zeros(x_train.shape[1], requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
opt = torch.optim.Adam([weights, bias], lr=opts.lr)
for epoch in range(opts.epochs):
    total = 0.0
    for i in torch.randperm(len(x_train)).split(50):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x_train[i] @ weights + bias, y_train[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(i)
    if epoch % 2:
        print(f"epoch {epoch + 1}: loss {total / len(x_train):.4f}")
with torch.no_grad():
    acc = (((x_test @ weights + bias) > 0) == (y_test > 0.5)).float().mean().item()
print(f"test accuracy {acc:.3f} after {time.perf_counter() - start:.1f} s")
