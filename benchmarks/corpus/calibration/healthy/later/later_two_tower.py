"""Two-tower retrieval model trained with in-batch softmax and logQ correction."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

N_USERS, N_ITEMS, DIM = 600, 300, 24
N_GENRES = 12


def simulate(seed=0, per_user=40):
    rng = np.random.default_rng(seed)
    item_genre = rng.integers(0, N_GENRES, N_ITEMS)
    item_pop = rng.zipf(1.7, N_ITEMS).clip(max=20).astype(float) ** 0.5
    user_group = rng.integers(0, N_GENRES, N_USERS)
    second = (user_group + 1 + rng.integers(0, 3, N_USERS)) % N_GENRES
    rows = []
    for u in range(N_USERS):
        w = item_pop * (0.02 + 1.0 * (item_genre == user_group[u]) + 0.5 * (item_genre == second[u]))
        items = rng.choice(N_ITEMS, size=per_user, replace=True, p=w / w.sum())
        rows += [(u, i) for i in items]
    rows = np.array(rows)
    rng.shuffle(rows)
    cut = int(len(rows) * 0.9)
    return rows[:cut], rows[cut:], item_genre


class Tower(nn.Module):
    def __init__(self, n_ids, n_side=None, dim=DIM):
        super().__init__()
        self.ids = nn.Embedding(n_ids, dim)
        self.side = nn.Embedding(n_side, dim) if n_side else None
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, ids, side=None):
        e = self.ids(ids)
        if self.side is not None:
            e = e + self.side(side)
        return e + self.proj(e)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = Tower(N_USERS)
        self.item = Tower(N_ITEMS, N_GENRES)
        self.apply(self.init_weights)

    @staticmethod
    def init_weights(m):
        if isinstance(m, nn.Embedding):
            nn.init.normal_(m.weight, std=0.1)
        elif isinstance(m, nn.Linear):
            nn.init.zeros_(m.weight)

    def forward(self, users, items, genres):
        return self.user(users) @ self.item(items, genres).T


def in_batch_loss(scores, items, log_q):
    scores = scores - log_q[items][None, :]
    # the same item may appear twice in a batch, do not use it as its own negative
    same = items[:, None] == items[None, :]
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, -1e4)
    return F.cross_entropy(scores, torch.arange(len(items)))


def train_epoch(model, opt, data, genres, log_q, bs=256):
    model.train()
    perm = torch.randperm(len(data))
    losses = []
    for s in range(0, len(data) - bs + 1, bs):
        b = data[perm[s:s + bs]]
        u, i = b[:, 0], b[:, 1]
        loss = in_batch_loss(model(u, i, genres[i]), i, log_q)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


@torch.no_grad()
def recall_at_k(model, data, genres, k=30):
    model.eval()
    all_items = torch.arange(N_ITEMS)
    u = data[:, 0]
    scores = model(u, all_items, genres)
    top = scores.topk(k, dim=1).indices
    return (top == data[:, 1:2]).any(1).float().mean().item()


def main():
    torch.manual_seed(0)
    train, test, genre = simulate()
    train, test, genre = torch.from_numpy(train), torch.from_numpy(test), torch.from_numpy(genre)
    freq = torch.bincount(train[:, 1], minlength=N_ITEMS).float() + 1
    log_q = torch.log(freq / freq.sum())

    model = TwoTower()
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
    print(f"{len(train)} train / {len(test)} test interactions, random recall@30 = {30 / N_ITEMS:.3f}")
    for epoch in range(1, 13):
        loss = train_epoch(model, opt, train, genre, log_q)
        rec = recall_at_k(model, test, genre)
        print(f"epoch {epoch:2d}  loss {loss:.4f}  recall@30 {rec:.4f}")
    print(f"final recall@30: {rec:.4f}")


main()
