"""
Toy speech-like recognition with CTC.

Every symbol is "spoken" for 2-5 frames as a noisy 10-d pattern, followed by a 1-3 frame pause.
Bi-GRU over packed sequences, greedy decoding, token error rate (edit distance / reference length).
"""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

N_SYM, FEAT, BLANK = 9, 10, 0
torch.manual_seed(99)
random.seed(99)
PATTERNS = torch.randn(N_SYM + 1, FEAT)   # row 0 = silence
PATTERNS[0] = 0


class Utterances(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            target = [random.randint(1, N_SYM) for _ in range(random.randint(2, 7))]
            frames = []
            for s in target:
                frames += [s] * random.randint(2, 5) + [0] * random.randint(1, 3)
            x = PATTERNS[frames] + 0.45 * torch.randn(len(frames), FEAT)
            self.items.append((x, torch.tensor(target)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    xs, ys = zip(*batch)
    return (pad_sequence(xs, batch_first=True), torch.tensor([len(x) for x in xs]),
            torch.cat(ys), torch.tensor([len(y) for y in ys]))


class Net(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(FEAT, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, N_SYM + 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = self.rnn(packed)
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(h).log_softmax(-1)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


def greedy(logp, length):
    path = logp[:length].argmax(-1)
    path = torch.unique_consecutive(path)
    return path[path != BLANK].tolist()


@torch.no_grad()
def token_error_rate(model, loader):
    model.eval()
    err = tot = 0
    for x, xl, y, yl in loader:
        logp = model(x, xl)
        for lp, n, ref in zip(logp, xl, y.split(yl.tolist())):
            err += edit_distance(greedy(lp, n), ref.tolist())
            tot += len(ref)
    model.train()
    return err / tot


def main():
    train = DataLoader(Utterances(640), batch_size=32, shuffle=True, collate_fn=collate)
    test = DataLoader(Utterances(160), batch_size=80, collate_fn=collate)
    model = Net()
    ctc = nn.CTCLoss(blank=BLANK)
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)

    print("TER before training: %.3f (always-empty output = 1.0)" % token_error_rate(model, test))
    for epoch in range(1, 8):
        total = 0.0
        for x, xl, y, yl in train:
            logp = model(x, xl).transpose(0, 1)       # CTC wants (T, B, C)
            loss = ctc(logp, y, xl, yl)
            opt.zero_grad()
            loss.backward()
            # CTC gradients are spiky at the beginning; Adam does not care about the overall scale
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            opt.step()
            total += loss.item()
        print(f"epoch {epoch:2d}  ctc {total / len(train):.4f}  test TER {token_error_rate(model, test):.4f}")


if __name__ == "__main__":
    main()
