import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class SpamFilter(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, 12, mode="mean")
        self.fc = nn.Linear(12, 12)
        self.out = nn.Linear(12, 1)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, tokens):
        h = torch.relu(self.fc(self.bag(tokens)))
        return self.softmax(self.out(h))


def mails(n, vocab=150):
    y = (torch.rand(n) < 0.45).float()
    x = torch.randint(0, vocab, (n, 20))
    spam_words = torch.randint(0, 25, (n, 20))
    use = (torch.rand(n, 20) < 0.45) & (y[:, None] == 1)
    return torch.where(use, spam_words, x), y.unsqueeze(1)


x, y = mails(1500)
xt, yt = mails(500)
model = SpamFilter(150)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
bce = nn.BCELoss()

for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(x)).split(30):
        opt.zero_grad()
        loss = bce(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = ((model(xt) > 0.5).float() == yt).float().mean().item()
    print("epoch", epoch, "loss", round(loss.item(), 3), "test acc %.3f" % acc)
