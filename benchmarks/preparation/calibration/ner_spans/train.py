import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from data import TAGS, load, shape, vocabulary


class Tagger(nn.Module):
    def __init__(self, n_words, n_shapes):
        super().__init__()
        self.w = nn.Embedding(n_words, 32, padding_idx=0)
        self.s = nn.Embedding(n_shapes, 16, padding_idx=0)
        self.rnn = nn.GRU(48, 40, batch_first=True, bidirectional=True)
        self.out = nn.Linear(80, len(TAGS))

    def forward(self, w, s):
        h, _ = self.rnn(torch.cat([self.w(w), self.s(s)], -1))
        return self.out(h)


def collate(batch, words, shapes):
    w = pad_sequence([torch.tensor([words.get(t, 1) for t in e["words"]]) for e in batch], batch_first=True)
    s = pad_sequence([torch.tensor([shapes.get(shape(t), 1) for t in e["words"]]) for e in batch], batch_first=True)
    y = pad_sequence([torch.tensor(e["tags"]) for e in batch], batch_first=True, padding_value=-100)
    return w, s, y


def spans(words, tags):
    found, cur = [], None
    for w, t in zip(words, tags):
        t = TAGS[t]
        if t.startswith("B-"):
            if cur:
                found.append(cur)
            cur = [w, t[2:]]
        elif t.startswith("I-") and cur and cur[1] == t[2:]:
            cur[0] += " " + w
        else:
            if cur:
                found.append(cur)
            cur = None
    if cur:
        found.append(cur)
    return sorted(tuple(c) for c in found)


def main():
    torch.manual_seed(4)
    train, test = load("train.jsonl"), load("test.jsonl")
    words, shapes = vocabulary(train)
    net = Tagger(len(words), len(shapes))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(8):
        order = torch.randperm(len(train)).tolist()
        tot = 0.0
        for i in range(0, len(order), 30):
            w, s, y = collate([train[j] for j in order[i:i + 30]], words, shapes)
            loss = nn.functional.cross_entropy(net(w, s).transpose(1, 2), y, ignore_index=-100)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"epoch {epoch} loss {tot / (len(order) / 30):.4f}")
    net.eval()
    tp = n_pred = n_gold = 0
    with torch.no_grad():
        for ex in test:
            w, s, _ = collate([ex], words, shapes)
            got = spans(ex["words"], net(w, s)[0].argmax(-1).tolist())
            gold = list(ex["gold"])
            n_pred += len(got)
            n_gold += len(gold)
            for g in got:
                if g in gold:
                    gold.remove(g)
                    tp += 1
    print(f"precision {tp / max(n_pred, 1):.3f} recall {tp / n_gold:.3f}")
    print(f"test entity F1 {2 * tp / max(n_pred + n_gold, 1):.3f}")


if __name__ == "__main__":
    main()
