import torch
from torch import nn

from data import PAD, TOPICS


class TopicGRU(nn.Module):
    def __init__(self, vocab_size, dim=32, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.gru = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, len(TOPICS))

    def forward(self, ids):
        h, _ = self.gru(self.emb(ids))
        h = h.masked_fill((ids == PAD).unsqueeze(-1), -1e4)
        return self.out(torch.amax(h, dim=1))
