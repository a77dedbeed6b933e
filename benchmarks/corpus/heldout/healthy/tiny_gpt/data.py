"""Sort five symbols: 'dbeca|abcde' - the model only gets loss on the sorted part."""
import torch

SEP = 12


def get_batch(n, length=5, symbols=12):
    x = torch.randint(0, symbols, (n, length))
    y = x.sort(dim=1).values
    seq = torch.cat([x, torch.full((n, 1), SEP), y], dim=1)
    inp, tgt = seq[:, :-1], seq[:, 1:].clone()
    tgt[:, :length] = -1
    return inp, tgt
