import torch
import torch.nn.functional as F
from torch import nn, optim


class Text(nn.Module):
    def __init__(self, vocab, n_out):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, 50)
        self.fc = nn.Linear(50, n_out)

    def forward(self, tokens):
        logits = self.fc(self.emb(tokens))
        return F.softmax(logits, dim=1)


model = Text(1000, 8)
opt = optim.Adagrad(model.parameters(), lr=0.1)
tokens, topic = torch.randint(0, 1000, (800, 20)), torch.randint(0, 8, (800,))
for epoch in range(5):
    for idx in torch.randperm(800).split(40):
        opt.zero_grad()
        out = model(tokens[idx])
        loss = F.cross_entropy(out, topic[idx])
        loss.backward()
        opt.step()
