import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCAB, TAGS, T = 30, 5, 40


def sentences(n):
    """Tag of a word depends on it and on the word before; tag 0 is used for padding."""
    words = torch.zeros(n, T, dtype=torch.long)
    tags = torch.zeros(n, T, dtype=torch.long)
    for i in range(n):
        ln = int(torch.randint(3, 7, ()))
        w = torch.randint(1, VOCAB, (ln,))
        prev = torch.cat([w[:1], w[:-1]])
        words[i, :ln] = w
        tags[i, :ln] = 1 + (w + prev) % 4
    return words, tags


class Tagger(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, 32, batch_first=True)
        self.out = nn.Linear(32, TAGS)

    def forward(self, w):
        return self.out(self.rnn(self.emb(w))[0])


def word_accuracy(model, w, t):
    model.eval()
    with torch.no_grad():
        pred = model(w).argmax(-1)
    real = w > 0
    return (pred == t)[real].float().mean().item()


w, t = sentences(1200)
wv, tv = sentences(300)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    for b in torch.randperm(len(w)).split(40):
        opt.zero_grad()
        scores = model(w[b])
        loss = criterion(scores.reshape(-1, TAGS), t[b].reshape(-1))
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f} word accuracy {word_accuracy(model, wv, tv):.3f}")
