import torch
from torch import nn
import options as o


class DupFinder(nn.Module):
    """Is any token of the sequence repeated?"""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(o.VOCAB, o.DIM)
        layer = nn.TransformerEncoderLayer(o.DIM, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(o.DIM)
        self.head = nn.Linear(o.DIM, 4)

    def forward(self, s):
        return self.head(self.norm(self.enc(self.emb(s)).mean(1)))
