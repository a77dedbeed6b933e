"""Pairwise learning to rank (RankNet): documents of a query ordered by graded relevance, NDCG@5."""
import os
import numpy as np
import torch
import torch.nn.functional as F

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

Q, D, P = 300, 12, 10
feat = rng.normal(size=(Q, D, P)).astype(np.float32)
utility = feat[..., 0] * 1.5 + np.maximum(feat[..., 1], 0) * 2 - np.abs(feat[..., 2] - feat[..., 3])
utility += 0.2 * rng.normal(size=(Q, D))
rel = np.clip(np.digitize(utility, [-1, 0.5, 2.0]), 0, 3)

X, R = torch.from_numpy(feat), torch.from_numpy(rel).float()
Xtr, Rtr, Xte, Rte = X[:220], R[:220], X[220:], R[220:]


def ndcg(scores, rels, k=5):
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    top = rels.gather(1, scores.argsort(1, descending=True)[:, :k])
    best = rels.sort(1, descending=True).values[:, :k]
    return (((2**top - 1) * disc).sum(1) / ((2**best - 1) * disc).sum(1).clamp(min=1e-6)).mean().item()


def ranknet_loss(s, r):
    diff_s = s[:, :, None] - s[:, None, :]
    better = (r[:, :, None] > r[:, None, :]).float()
    return (F.softplus(-diff_s) * better).sum() / better.sum()


scorer = torch.nn.Sequential(
    torch.nn.Linear(P, 48), torch.nn.ReLU(), torch.nn.Linear(48, 48), torch.nn.ReLU(), torch.nn.Linear(48, 1)
)
optimizer = torch.optim.Adam(scorer.parameters(), lr=3e-3, weight_decay=1e-4)
for epoch in range(20):
    scorer.train()
    total = 0.0
    for q in torch.randperm(220).split(20):
        s = scorer(Xtr[q]).squeeze(-1)
        loss = ranknet_loss(s, Rtr[q])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 11
    if epoch % 4 == 3:
        scorer.eval()
        with torch.no_grad():
            st = scorer(Xte).squeeze(-1)
        print(f"epoch {epoch + 1:2d} pair loss {total:.4f}  test NDCG@5 {ndcg(st, Rte):.4f}")
print("random order NDCG@5", round(ndcg(torch.rand_like(Rte), Rte), 4))
