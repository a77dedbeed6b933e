import copy
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)


def make_text(n_sentences=1600):
    who = ["the miller", "a young fox", "the old queen", "my brother", "the gardener", "a tired clerk"]
    verb = ["carried", "painted", "counted", "borrowed", "followed", "polished"]
    what = ["seven lanterns", "the wooden gate", "a silver coin", "the long ladder", "nine apples", "a broken clock"]
    where = ["by the river", "under the bridge", "in the market", "behind the chapel", "near the harbour"]
    out = []
    for _ in range(n_sentences):
        s = f"{random.choice(who)} {random.choice(verb)} {random.choice(what)}"
        if random.random() < 0.7:
            s += " " + random.choice(where)
        out.append(s + ".\n")
    return "".join(out)


class CharLSTM(nn.Module):
    """Embedding and output matrix share their weights."""

    def __init__(self, vocab, dim=80, layers=1, p=0.1):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, layers, batch_first=True)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(dim, vocab)
        self.out.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)
        # remember by default
        for name, b in self.rnn.named_parameters():
            if "bias_hh" in name:
                b.data[dim:2 * dim].fill_(1.0)

    def forward(self, x, state=None):
        h, state = self.rnn(self.drop(self.embed(x)), state)
        return self.out(self.drop(h)), state


class Trainer:
    def __init__(self, model, train_ids, val_ids, batch_size=24, bptt=40, lr=6e-3, clip=1.0, patience=3):
        self.model = model
        self.train_data = self.batchify(train_ids, batch_size)
        self.val_data = self.batchify(val_ids, batch_size)
        self.bptt = bptt
        self.clip = clip
        self.patience = patience
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.5, patience=1)
        self.best_val = float("inf")
        self.best_state = copy.deepcopy(model.state_dict())
        self.bad_rounds = 0

    @staticmethod
    def batchify(ids, bs):
        n = len(ids) // bs
        return ids[: n * bs].view(bs, n)

    def chunks(self, data):
        for i in range(0, data.size(1) - 1, self.bptt):
            j = min(i + self.bptt, data.size(1) - 1)
            yield data[:, i:j], data[:, i + 1:j + 1]

    def run_epoch(self):
        self.model.train()
        state, tot, cnt = None, 0.0, 0
        for x, y in self.chunks(self.train_data):
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = self.model(x, state)
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.opt.step()
            tot += loss.item() * y.numel()
            cnt += y.numel()
        return tot / cnt

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        state, tot, cnt = None, 0.0, 0
        for x, y in self.chunks(self.val_data):
            logits, state = self.model(x, state)
            tot += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
            cnt += y.numel()
        return tot / cnt

    def fit(self, max_epochs):
        for ep in range(max_epochs):
            tr = self.run_epoch()
            va = self.validate()
            self.sched.step(va)
            print(f"epoch {ep + 1:2d} | train {tr:.3f} | val {va:.3f} | bpc {va / math.log(2):.3f}")
            if va < self.best_val:
                self.best_val = va
                self.best_state = copy.deepcopy(self.model.state_dict())
                self.bad_rounds = 0
            else:
                self.bad_rounds += 1
                if self.bad_rounds >= self.patience:
                    print("early stopping")
                    break
        self.model.load_state_dict(self.best_state)


@torch.no_grad()
def sample(model, stoi, itos, start="the ", n=120, temp=0.7):
    model.eval()
    x = torch.tensor([[stoi[c] for c in start]])
    text, state = start, None
    for _ in range(n):
        logits, state = model(x, state)
        x = torch.multinomial(F.softmax(logits[:, -1] / temp, dim=-1), 1)
        text += itos[x.item()]
    return text


if __name__ == "__main__":
    text = make_text()
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    ids = torch.tensor([stoi[c] for c in text])
    cut = int(0.9 * len(ids))
    print(f"{len(ids)} characters, vocabulary of {len(chars)}")

    model = CharLSTM(len(chars))
    trainer = Trainer(model, ids[:cut], ids[cut:])
    trainer.fit(max_epochs=9)

    final = trainer.validate()
    print(f"final val loss {final:.4f}  bpc {final / math.log(2):.4f}")
    print(sample(model, stoi, chars))
