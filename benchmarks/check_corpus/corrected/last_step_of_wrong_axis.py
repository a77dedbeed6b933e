import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, vocab=500):
        super().__init__()
        self.emb = nn.Embedding(vocab, 32)
        self.gru = nn.GRU(32, 48, batch_first=True)
        self.fc = nn.Linear(48, 2)

    def forward(self, tokens):
        states, _ = self.gru(self.emb(tokens))
        last = states[:, -1]
        return self.fc(last)


net = Reader()
print(net(torch.randint(0, 500, (32, 32))).shape)
