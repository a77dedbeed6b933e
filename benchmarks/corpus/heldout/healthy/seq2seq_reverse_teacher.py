import os
import random
import torch
import torch.nn as nn

seed = int(os.environ.get('SEED', '0'))
torch.manual_seed(seed)
random.seed(seed)

# Task: "translate" a digit string to its reverse with letters.  0=pad 1=sos 2=eos
PAD, SOS, EOS = 0, 1, 2
N_SRC, N_TGT = 13, 13
HID = 64
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def make_pairs(n, max_len=6):
    src = torch.zeros(n, max_len, dtype=torch.long)
    tgt = torch.zeros(n, max_len + 2, dtype=torch.long)
    for i in range(n):
        L = random.randint(3, max_len)
        d = [random.randint(3, 12) for _ in range(L)]
        src[i, :L] = torch.tensor(d)
        tgt[i, 0] = SOS
        tgt[i, 1:L + 1] = torch.tensor(d[::-1])
        tgt[i, L + 1] = EOS
    return src, tgt


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.embedding = nn.Embedding(N_SRC, 24, padding_idx=PAD)
        self.gru = nn.GRU(24, HID, batch_first=True)

    def forward(self, src):
        out, h = self.gru(self.embedding(src))
        return out, h


class Attention(nn.Module):
    def __init__(self):
        super(Attention, self).__init__()
        self.Wq = nn.Linear(HID, HID)

    def forward(self, q, enc, mask):
        score = torch.bmm(enc, self.Wq(q).transpose(1, 2)).squeeze(2) / HID ** 0.5
        score = score.masked_fill(mask, -1e9)
        w = score.softmax(dim=1)
        return torch.bmm(w.unsqueeze(1), enc)


class Decoder(nn.Module):
    def __init__(self):
        super(Decoder, self).__init__()
        self.embedding = nn.Embedding(N_TGT, 24, padding_idx=PAD)
        self.attn = Attention()
        self.gru = nn.GRU(24 + HID, HID, batch_first=True)
        self.fc = nn.Linear(HID, N_TGT)

    def step(self, tok, h, enc, mask):
        ctx = self.attn(h[-1].unsqueeze(1), enc, mask)
        out, h = self.gru(torch.cat([self.embedding(tok).unsqueeze(1), ctx], -1), h)
        return self.fc(out.squeeze(1)), h


encoder, decoder = Encoder().to(device), Decoder().to(device)
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adam(params, lr=5e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=240)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)


def run(src, tgt, teacher_forcing):
    enc, h = encoder(src)
    mask = src == PAD
    tok = tgt[:, 0]
    logits = []
    for t in range(1, tgt.size(1)):
        o, h = decoder.step(tok, h, enc, mask)
        logits.append(o)
        tok = tgt[:, t] if random.random() < teacher_forcing else o.argmax(1)
    return torch.stack(logits, 1)


src_tr, tgt_tr = make_pairs(3000)
src_te, tgt_te = make_pairs(300)
for it in range(1, 241):
    b = torch.randint(0, 3000, (64,))
    src, tgt = src_tr[b].to(device), tgt_tr[b].to(device)
    optimizer.zero_grad()
    out = run(src, tgt, teacher_forcing=0.8)
    loss = criterion(out.reshape(-1, N_TGT), tgt[:, 1:].reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    scheduler.step()
    if it % 60 == 0:
        encoder.eval(); decoder.eval()
        with torch.no_grad():
            pred = run(src_te.to(device), tgt_te.to(device), teacher_forcing=0.0).argmax(-1).cpu()
        m = tgt_te[:, 1:] != PAD
        acc = (pred == tgt_te[:, 1:])[m].float().mean().item()
        encoder.train(); decoder.train()
        print('iter', it, 'loss %.4f' % loss.item(), 'token acc %.3f' % acc)
