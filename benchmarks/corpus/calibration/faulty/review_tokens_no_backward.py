import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 200, 12


def make_reviews(n):
    """Reviews with positive (1..30) and negative (31..60) words among neutral ones."""
    label = torch.randint(0, 2, (n,))
    tokens = torch.randint(61, VOCAB, (n, LENGTH))
    for i in range(n):
        k = int(torch.randint(2, 5, (1,)))
        pos = torch.randperm(LENGTH)[:k]
        low = 1 if label[i] == 1 else 31
        tokens[i, pos] = torch.randint(low, low + 30, (k,))
    return tokens, label.float()


class Sentiment(nn.Module):
    def __init__(self, vocab, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.hidden = nn.Linear(dim, 24)
        self.head = nn.Linear(24, 1)

    def forward(self, tok):
        h = self.embed(tok).mean(dim=1)
        h = torch.relu(self.hidden(h))
        return self.head(h).squeeze(1)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train_ds = TensorDataset(*make_reviews(1000))
    test_x, test_y = make_reviews(300)
    loader = DataLoader(train_ds, batch_size=25, shuffle=True)
    model = Sentiment(VOCAB)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    bce = nn.BCEWithLogitsLoss()

    for epoch in range(8):
        model.train()
        seen, running_loss = 0, 0.0
        for tok, target in loader:
            optimizer.zero_grad()
            loss = bce(model(tok), target)
            optimizer.step()
            running_loss += loss.item() * len(tok)
            seen += len(tok)
        print("epoch", epoch, "loss: %.4f" % (running_loss / seen))

    model.eval()
    with torch.no_grad():
        acc = ((model(test_x) > 0).float() == test_y).float().mean()
    print("test acc: %.3f" % acc.item())


main()
