import torch

from vocab import BOS, EOS, FIRST_SYMBOL, N_SYMBOLS, PAD


def sort_task(n, min_len=3, max_len=6):
    """Source: random symbols. Target: the same symbols in sorted order. Both padded."""
    src = torch.full((n, max_len), PAD)
    tgt = torch.full((n, max_len + 2), PAD)
    for i in range(n):
        k = int(torch.randint(min_len, max_len + 1, (1,)))
        s = torch.randint(FIRST_SYMBOL, FIRST_SYMBOL + N_SYMBOLS, (k,))
        src[i, :k] = s
        tgt[i, 0] = BOS
        tgt[i, 1 : k + 1] = s.sort().values
        tgt[i, k + 1] = EOS
    return src, tgt
