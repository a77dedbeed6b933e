import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

TEXT = (
    "the cat sat on the mat and the dog sat on the log . the cat saw the dog and the dog saw the cat . "
    "a bird sang in the tree while the cat slept on the mat . the dog ran to the tree and the bird flew away . "
) * 12
words = TEXT.split()
vocab = sorted(set(words))
stoi = {w: i for i, w in enumerate(vocab)}
ids = torch.tensor([stoi[w] for w in words])
CTX = 4


class TiedLM(nn.Module):
    def __init__(self, v, d=32):
        super().__init__()
        self.embed = nn.Embedding(v, d)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.mix = nn.Linear(CTX * d, 64)
        self.back = nn.Linear(64, d)
        self.decoder = nn.Linear(d, v)
        self.decoder.weight = self.embed.weight

    def forward(self, ctx):
        h = self.embed(ctx).flatten(1)
        return self.decoder(self.back(torch.tanh(self.mix(h))))


windows = ids.unfold(0, CTX + 1, 1)
model = TiedLM(len(vocab))
print("parameters:", sum(p.numel() for p in model.parameters()), "vocab:", len(vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(15):
    total, count = 0.0, 0
    for idx in torch.randperm(len(windows)).split(24):
        batch = windows[idx]
        loss = F.cross_entropy(model(batch[:, :-1]), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
        count += len(idx)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} perplexity {torch.tensor(total / count).exp().item():.3f}")
