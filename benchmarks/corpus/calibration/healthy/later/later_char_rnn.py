import torch
import torch.nn as nn

torch.manual_seed(0)

rhyme = """the quick brown fox jumps over the lazy dog. she sells sea shells by the sea shore.
peter piper picked a peck of pickled peppers. how much wood would a woodchuck chuck
if a woodchuck could chuck wood. a big black bug bit a big black bear. """
text = (rhyme * 12).replace("\n", " ")
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in text])
SEQ, BATCH, STEPS = 40, 32, 350
CLIP = 1.0


class CharRNN(nn.Module):
    def __init__(self, n_chars, emb=24, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(n_chars, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, x, h=None):
        y, h = self.rnn(self.embed(x), h)
        return self.out(y), h


def batch():
    starts = torch.randint(0, len(data) - SEQ - 1, (BATCH,))
    x = torch.stack([data[s:s + SEQ] for s in starts])
    y = torch.stack([data[s + 1:s + SEQ + 1] for s in starts])
    return x, y


@torch.no_grad()
def sample(model, start="the ", n=60):
    model.eval()
    logits, h = model(torch.tensor([[stoi[c] for c in start]]))
    result = start
    for _ in range(n):
        nxt = logits[0, -1].argmax().item()
        result += itos[nxt]
        logits, h = model(torch.tensor([[nxt]]), h)
    model.train()
    return result


model = CharRNN(len(chars))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for step in range(1, STEPS + 1):
    x, y = batch()
    logits, _ = model(x)
    loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: loss {loss.item():.3f}  |  {sample(model)!r}")

x, y = batch()
with torch.no_grad():
    acc = (model(x)[0].argmax(-1) == y).float().mean().item()
print(f"next-char accuracy {acc:.3f}")
