import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from texts import encode, make_tokenizer, read

cfg = json.load(open("config.json"))
torch.manual_seed(30)


class OutcomeNet(nn.Module):
    def __init__(self, vocab, dim, n_out):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.conv = nn.ModuleList([nn.Conv1d(dim, 24, k, padding=k // 2) for k in (1, 3, 5)])
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(72, n_out)

    def forward(self, ids):
        e = self.emb(ids).transpose(1, 2)
        h = torch.cat([torch.relu(c(e)).amax(-1) for c in self.conv], 1)
        return self.out(self.drop(h))


parts = read("tickets.jsonl")
classes = sorted({c for _, c in parts["train"]})
tok = make_tokenizer([t for t, _ in parts["train"]], cfg["vocab_size"], cfg["max_length"])
xtr, ytr = encode(tok, parts["train"], classes)
xte, yte = encode(tok, parts["test"], classes)
print("vocabulary", tok.get_vocab_size(), "train", tuple(xtr.shape), "test", tuple(xte.shape))

net = OutcomeNet(tok.get_vocab_size(), cfg["dim"], len(classes))
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"], weight_decay=1e-5)
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=cfg["batch"], shuffle=True)
for epoch in range(cfg["epochs"]):
    net.train()
    total = 0.0
    for ids, y in loader:
        loss = nn.functional.cross_entropy(net(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    print(f"epoch {epoch + 1} loss {total / len(xtr):.4f} test acc {acc:.3f}")
print(f"final test accuracy {acc:.3f}")
