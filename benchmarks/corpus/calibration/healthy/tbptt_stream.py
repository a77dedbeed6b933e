# One long stream read in order; the hidden state is carried over and cut from the graph at each chunk.
import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

CHUNK, STREAMS, TOTAL = 20, 16, 4400

bits = torch.randint(0, 2, (STREAMS, TOTAL))
# target: has the last "1" been seen an even number of steps ago?
target = torch.zeros(STREAMS, TOTAL, dtype=torch.long)
age = torch.zeros(STREAMS, dtype=torch.long)
for t in range(TOTAL):
    age = torch.where(bits[:, t] == 1, torch.zeros_like(age), age + 1)
    target[:, t] = age % 2


class StreamNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(1, 24, batch_first=True)
        self.readout = nn.Linear(24, 2)

    def forward(self, x, state):
        h, state = self.cell(x, state)
        return self.readout(h), state


net = StreamNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
ce = nn.CrossEntropyLoss()
state, right, count = None, 0, 0
train_end = TOTAL - 400
for k, start in enumerate(range(0, train_end, CHUNK)):
    x = bits[:, start : start + CHUNK].float().unsqueeze(-1) * 2 - 1
    y = target[:, start : start + CHUNK]
    out, state = net(x, state)
    state = tuple(s.detach() for s in state)
    loss = ce(out.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if k % 40 == 39:
        print(f"chunk {k + 1}: loss {loss.item():.4f} acc {(out.argmax(-1) == y).float().mean():.3f}")

net.eval()
with torch.no_grad():
    out, _ = net(bits[:, train_end:].float().unsqueeze(-1) * 2 - 1, state)
print("unseen part accuracy", (out.argmax(-1) == target[:, train_end:]).float().mean().item())
