import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0


def collate(batch):
    words, tags = zip(*batch)
    return pad_sequence(words, batch_first=True, padding_value=PAD), pad_sequence(tags, batch_first=True, padding_value=PAD)


class Tagger(nn.Module):
    def __init__(self, vocab, n_tags):
        super().__init__()
        self.emb = nn.Embedding(vocab, 32, padding_idx=PAD)
        self.rnn = nn.LSTM(32, 32, batch_first=True)
        self.out = nn.Linear(32, n_tags)

    def forward(self, words):
        return self.out(self.rnn(self.emb(words))[0])


def train(dataset, vocab, n_tags):
    model = Tagger(vocab, n_tags)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters())
    for words, tags in DataLoader(dataset, batch_size=16, shuffle=True, collate_fn=collate):
        opt.zero_grad()
        loss = criterion(model(words).flatten(0, 1), tags.flatten())
        loss.backward()
        opt.step()
