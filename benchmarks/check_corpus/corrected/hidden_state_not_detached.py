import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocab, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, 16)
        self.rnn = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state):
        y, state = self.rnn(self.emb(tokens), state)
        return self.out(y), state


model = CharModel(40)
opt = torch.optim.Adam(model.parameters())
text = torch.randint(0, 40, (8, 1001))
state = None
for i in range(0, 1000, 20):
    opt.zero_grad()
    logits, state = model(text[:, i : i + 20], state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, i + 1 : i + 21].flatten())
    loss.backward()
    opt.step()
    state = state.detach()
