# Recognise strings of hand-written digits with a conv + BiGRU network trained with CTC.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)
np.random.seed(3)

BLANK = 0            # digits d are encoded as d + 1
NUM_CLASSES = 11
batch_size = 32
num_epochs = 8
base_lr = 3e-3


class DigitLines(Dataset):
    def __init__(self, glyphs, labels, n_lines, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n_lines):
            k = rng.integers(3, 6)
            pick = rng.integers(0, len(glyphs), size=k)
            cols = [np.zeros((8, rng.integers(1, 3)))]
            for i in pick:
                cols += [glyphs[i], np.zeros((8, rng.integers(1, 4)))]
            line = np.concatenate(cols, axis=1)
            self.items.append((torch.tensor(line, dtype=torch.float32),
                               torch.tensor(labels[pick] + 1, dtype=torch.long)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    lines, targets = zip(*batch)
    widths = torch.tensor([l.shape[1] for l in lines])
    x = torch.zeros(len(lines), 1, 8, int(widths.max()))
    for i, l in enumerate(lines):
        x[i, 0, :, :l.shape[1]] = l
    x = (x - MEAN) / STD
    return x, widths, torch.cat(targets), torch.tensor([len(t) for t in targets])


class CRNN(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.MaxPool2d((2, 1)),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.MaxPool2d((2, 2)),
        )
        self.rnn = nn.GRU(32 * 2, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, NUM_CLASSES)

    def forward(self, x, widths):
        f = self.conv(x)                                   # B, 32, 2, W/2
        f = f.flatten(1, 2).transpose(1, 2)                # B, W/2, 64
        out_lens = widths // 2
        packed = nn.utils.rnn.pack_padded_sequence(f, out_lens, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return F.log_softmax(self.fc(h), dim=-1), out_lens


def greedy_decode(log_probs, lens):
    best = log_probs.argmax(-1)
    out = []
    for seq, n in zip(best, lens):
        seq = torch.unique_consecutive(seq[:n])
        out.append(seq[seq != BLANK].tolist())
    return out


def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


def run_validation():
    model.eval()
    errors, symbols, loss_sum = 0, 0, 0.0
    with torch.no_grad():
        for x, widths, targets, target_lens in val_loader:
            log_probs, lens = model(x, widths)
            loss_sum += ctc(log_probs.transpose(0, 1), targets, lens, target_lens).item()
            refs = [t.tolist() for t in targets.split(target_lens.tolist())]
            for hyp, ref in zip(greedy_decode(log_probs, lens), refs):
                errors += edit_distance(hyp, ref)
                symbols += len(ref)
    return loss_sum / len(val_loader), errors / symbols


digits = load_digits()
glyphs = digits.images / 16.0
g_train, g_val, l_train, l_val = train_test_split(
    glyphs, digits.target, test_size=0.2, stratify=digits.target, random_state=3)

train_set = DigitLines(g_train, l_train, 1200, seed=10)
val_set = DigitLines(g_val, l_val, 200, seed=11)
train_pixels = torch.cat([line.flatten() for line, _ in train_set.items])
MEAN, STD = train_pixels.mean(), train_pixels.std()
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True, collate_fn=collate)
val_loader = DataLoader(val_set, batch_size=batch_size, collate_fn=collate)

model = CRNN()
ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=base_lr)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.3)

for epoch in range(num_epochs):
    model.train()
    total = 0.0
    for x, widths, targets, target_lens in train_loader:
        log_probs, lens = model(x, widths)
        loss = ctc(log_probs.transpose(0, 1), targets, lens, target_lens)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    scheduler.step()
    val_loss, cer = run_validation()
    print(f"epoch {epoch + 1:2d} train loss {total / len(train_loader):.3f} "
          f"val loss {val_loss:.3f} val CER {cer:.3f}")
