"""Embedding and GRU over packed sequences, next-token prediction with padding ignored."""

import torch
from common import finish, seed_everything
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=15, width=12):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=False)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False)
        output, hidden = self.gru(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        return self.out(output), hidden


seed_everything(29)
sentences = [torch.randint(1, 15, (int(n),)) for n in torch.randint(4, 10, (32,))]
model = LanguageModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(4):
    for i in range(0, 32, 8):
        batch = sentences[i : i + 8]
        tokens = pad_sequence([s[:-1] for s in batch], batch_first=True)
        targets = pad_sequence([s[1:] for s in batch], batch_first=True)
        logits, _ = model(tokens, torch.tensor([len(s) - 1 for s in batch]))
        loss = criterion(logits.transpose(1, 2), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
finish(model, optimizer)
