"""Language model that lacks its causal mask, with dropout, a buffer that counts and a generator of its own for its windows."""

import torch
from common import finish, seed_everything
from torch import nn
from torch.nn.functional import cross_entropy, dropout, softmax

seed_everything(12)
STEPS, WIDTH, TOKENS = 24, 16, 30


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, WIDTH)
        self.position = nn.Parameter(torch.randn(STEPS, WIDTH) * 0.02)
        self.queries, self.values = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, tokens, targets=None):
        self.calls += 1
        x = self.embed(tokens) + self.position[: tokens.shape[1]]
        weights = softmax(self.queries(x) @ x.transpose(1, 2) / WIDTH**0.5, dim=-1)
        x = x + dropout(weights, 0.1, self.training) @ self.values(x)
        scores = self.head(self.norm(x))
        if targets is None:
            return scores, None
        return scores, cross_entropy(scores.view(-1, TOKENS), targets.reshape(-1))


text = torch.randint(TOKENS, (2000,))
model = LanguageModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
windows = torch.Generator().manual_seed(3)

for step in range(24):
    starts = torch.randint(len(text) - STEPS - 1, (10,), generator=windows)
    tokens = torch.stack([text[i : i + STEPS] for i in starts])
    targets = torch.stack([text[i + 1 : i + STEPS + 1] for i in starts])
    scores, loss = model(tokens, targets=targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), int(model.calls))
    if step % 8 == 7:
        model.eval()
        with torch.no_grad():
            print("evaluated", repr(model(text[None, :STEPS])[0].sum().item()))
        model.train()

finish(model, optimizer)
