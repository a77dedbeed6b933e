import torch
from torch import nn

from vocab import PAD, VOCAB


class Seq2Seq(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.src_emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.query = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(2 * dim, VOCAB)

    def encode(self, src):
        return self.encoder(self.src_emb(src))

    def decode(self, tgt_in, memory, state, src_mask):
        h, state = self.decoder(self.tgt_emb(tgt_in), state)
        scores = self.query(h) @ memory.transpose(1, 2) / memory.size(-1) ** 0.5
        weights = scores.masked_fill(~src_mask[:, None, :], float("-inf")).softmax(-1)
        return self.out(torch.cat([h, weights @ memory], dim=-1)), state

    def forward(self, src, tgt_in):
        memory, state = self.encode(src)
        return self.decode(tgt_in, memory, state, src != PAD)[0]
