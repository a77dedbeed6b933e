import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

params = dict(
    seed=5, n_topics=10, words_per_topic=15, n_stop=20,
    n_sent=3000, sent_len=10, window=2,
    dim=24, n_neg=5, batch_size=512, epochs=6, lr=5e-3, subsample=5e-3,
)


def make_corpus(p, rng):
    """Each sentence is about one topic; roughly a third of its words are stop words."""
    n_content = p["n_topics"] * p["words_per_topic"]
    zipf = 1.0 / np.arange(1, p["words_per_topic"] + 1) ** 0.5
    zipf /= zipf.sum()
    sentences = []
    for _ in range(p["n_sent"]):
        topic = rng.integers(p["n_topics"])
        words = topic * p["words_per_topic"] + rng.choice(p["words_per_topic"], size=p["sent_len"], p=zipf)
        stop = rng.random(p["sent_len"]) < 0.3
        words[stop] = n_content + rng.integers(p["n_stop"], size=stop.sum())
        sentences.append(words)
    return sentences, n_content + p["n_stop"]


def subsample(sentences, freq, threshold, rng):
    keep = np.minimum(1.0, np.sqrt(threshold / freq))
    return [s[rng.random(len(s)) < keep[s]] for s in sentences]


def skipgram_pairs(sentences, window):
    pairs = []
    for s in sentences:
        for i, c in enumerate(s):
            for j in range(max(0, i - window), min(len(s), i + window + 1)):
                if i != j:
                    pairs.append((c, s[j]))
    return torch.tensor(np.array(pairs), dtype=torch.long)


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.center = nn.Embedding(vocab, dim)
        self.context = nn.Embedding(vocab, dim)
        nn.init.uniform_(self.center.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, pos, neg):
        v = self.center(c)                                              # B, D
        pos_score = (v * self.context(pos)).sum(-1)                     # B
        neg_score = torch.bmm(self.context(neg), v.unsqueeze(2)).squeeze(2)   # B, K
        pos_term = F.logsigmoid(pos_score)
        neg_term = F.logsigmoid(-neg_score).sum(1)
        return -(pos_term + neg_term).mean()


def neighbour_purity(model, p, k=5):
    n_content = p["n_topics"] * p["words_per_topic"]
    emb = F.normalize(model.center.weight.detach()[:n_content], dim=1)
    sim = emb @ emb.t()
    sim.fill_diagonal_(-2)
    topic = torch.arange(n_content) // p["words_per_topic"]
    nn_idx = sim.topk(k, dim=1).indices
    return (topic[nn_idx] == topic[:, None]).float().mean().item()


def run(p):
    torch.manual_seed(p["seed"])
    rng = np.random.default_rng(p["seed"])
    sentences, vocab = make_corpus(p, rng)
    split = int(0.9 * len(sentences))
    train_s, val_s = sentences[:split], sentences[split:]

    counts = np.bincount(np.concatenate(train_s), minlength=vocab).astype(float)
    freq = counts / counts.sum()
    noise_dist = torch.tensor(freq ** 0.75, dtype=torch.float32)
    noise_dist /= noise_dist.sum()

    train_pairs = skipgram_pairs(subsample(train_s, freq, p["subsample"], rng), p["window"])
    val_pairs = skipgram_pairs(val_s, p["window"])
    val_neg = torch.multinomial(noise_dist, len(val_pairs) * p["n_neg"], replacement=True).view(-1, p["n_neg"])
    print(f"vocab {vocab}  train pairs {len(train_pairs)}  val pairs {len(val_pairs)}")

    loader = DataLoader(TensorDataset(train_pairs), batch_size=p["batch_size"], shuffle=True)
    model = SkipGram(vocab, p["dim"])
    optimizer = torch.optim.Adam(model.parameters(), lr=p["lr"])

    for epoch in range(p["epochs"]):
        model.train()
        running = 0.0
        for (pairs,) in loader:
            neg = torch.multinomial(noise_dist, len(pairs) * p["n_neg"], replacement=True).view(-1, p["n_neg"])
            loss = model(pairs[:, 0], pairs[:, 1], neg)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        model.eval()
        with torch.no_grad():
            val_loss = model(val_pairs[:, 0], val_pairs[:, 1], val_neg).item()
        print(f"epoch {epoch + 1}: train {running / len(loader):.4f}  val {val_loss:.4f}  "
              f"topic purity@5 {neighbour_purity(model, p):.3f}")


run(params)
