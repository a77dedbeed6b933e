import torch
from torch import nn
from torch.utils.data import DataLoader

from data import QUEUES, ScoringTickets, TrainTickets, collate


class BagClassifier(nn.Module):
    def __init__(self, n_words, n_classes, dim=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=0)
        self.att = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, n_classes)

    def forward(self, ids):
        e = self.emb(ids)
        w = self.att(e).squeeze(-1).masked_fill(ids == 0, -1e9).softmax(1)
        return self.out((w.unsqueeze(-1) * e).sum(1))


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for ids, y in loader:
            right += (model(ids).argmax(1) == y).sum().item()
            total += len(y)
    return right / total


def main():
    torch.manual_seed(5)
    train_set = TrainTickets("train.jsonl")
    valid_set = ScoringTickets("valid.jsonl", train_set.vocab)
    print(f"{len(train_set)} tickets for training, {len(valid_set)} for validation, {len(train_set.vocab)} words")
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
    valid_loader = DataLoader(valid_set, batch_size=200, collate_fn=collate)

    model = BagClassifier(len(train_set.vocab), len(QUEUES))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, 9):
        model.train()
        total = 0.0
        for ids, y in train_loader:
            loss = nn.functional.cross_entropy(model(ids), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        if epoch % 2 == 0:
            print(f"epoch {epoch}: train loss {total / len(train_set):.4f}")
    print(f"validation accuracy: {evaluate(model, valid_loader):.4f}")


if __name__ == "__main__":
    main()
