import time

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import ForumPosts, pad_batch
from model import TopicGRU

MAX_WORDS = 400


def accuracy(model, loader):
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for ids, topics in loader:
            right += (model(ids).argmax(1) == topics).sum().item()
            seen += len(topics)
    return right / seen


def main():
    torch.manual_seed(12)
    train_set = ForumPosts("train.jsonl", MAX_WORDS)
    valid_set = ForumPosts("valid.jsonl", MAX_WORDS)
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True, collate_fn=pad_batch)
    valid_loader = DataLoader(valid_set, batch_size=100, collate_fn=pad_batch)

    model = TopicGRU(MAX_WORDS)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        model.train()
        started, losses = time.time(), []
        for ids, topics in train_loader:
            loss = criterion(model(ids), topics)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f} "
              f"train acc {accuracy(model, train_loader):.3f} ({time.time() - started:.1f}s)")
    print(f"validation accuracy {accuracy(model, valid_loader):.3f}")


if __name__ == "__main__":
    main()
