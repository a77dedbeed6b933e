import os

import torch
from torch import nn

from data import sort_task
from model import Seq2Seq
from vocab import PAD, VOCAB

EPOCHS = 9
BATCH = 64
LR = 8e-3


@torch.no_grad()
def teacher_forced_accuracy(model, src, tgt):
    model.eval()
    pred = model(src, tgt[:, :-1]).argmax(-1)
    gold = tgt[:, 1:]
    mask = gold != PAD
    return (pred[mask] == gold[mask]).float().mean().item()


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    src, tgt = sort_task(2000)
    val_src, val_tgt = sort_task(300)
    model = Seq2Seq()
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    for epoch in range(EPOCHS):
        model.train()
        running = 0.0
        for rows in torch.randperm(len(src)).split(BATCH):
            logits = model(src[rows], tgt[rows, :-1])
            loss = criterion(logits.reshape(-1, VOCAB), tgt[rows, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item() * len(rows)
        scheduler.step()
        acc = teacher_forced_accuracy(model, val_src, val_tgt)
        print(f"epoch {epoch}: loss {running / len(src):.4f}  val token accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
