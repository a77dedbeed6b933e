import os
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
MAX_LEN, PAD, VOCAB = 60, 0, 40


class Orders(Dataset):
    """Lists of item ids (length 2..8); label = dominant department."""

    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            k = int(torch.randint(0, 4, ()))
            length = int(torch.randint(2, 9, ()))
            own = torch.rand(length) < 0.7
            ids = torch.where(own, 1 + torch.randint(0, 9, (length,)) + 9 * k, torch.randint(1, 37, (length,)))
            self.rows.append((ids, k))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    seqs, labels = zip(*batch)
    out = torch.full((len(seqs), MAX_LEN), PAD)
    p = pad_sequence(seqs, batch_first=True, padding_value=PAD)
    out[:, :p.shape[1]] = p
    return out, torch.tensor(labels)


class OrderNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.fc = nn.Linear(dim, 32)
        self.out = nn.Linear(32, 4)

    def forward(self, ids):
        pooled = self.emb(ids).mean(dim=1)
        return self.out(torch.relu(self.fc(pooled)))


train = DataLoader(Orders(1200), batch_size=40, shuffle=True, collate_fn=collate)
test = DataLoader(Orders(400), batch_size=200, collate_fn=collate)
model = OrderNet()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(8):
    model.train()
    tot = 0.0
    for ids, lab in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(ids), lab)
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        hit = sum((model(i).argmax(1) == l).sum().item() for i, l in test)
    print(f"epoch {epoch} loss {tot / len(train):.3f} test acc {hit / 400:.3f}")
