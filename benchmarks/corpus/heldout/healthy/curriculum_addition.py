import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get('SEED', '0')))

# Adding problem with growing length: sum the two marked numbers in a sequence.
def adding(n, length):
    v = torch.rand(n, length)
    mark = torch.zeros(n, length)
    first = torch.randint(0, length // 2, (n, 1))
    second = torch.randint(length // 2, length, (n, 1))
    mark.scatter_(1, first, 1.0)
    mark.scatter_(1, second, 1.0)
    return torch.stack([v, mark], -1), (v * mark).sum(1)

class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 40, batch_first=True)
        self.out = nn.Linear(40, 1)
    def forward(self, x):
        y, _ = self.rnn(x)
        return self.out(y[:, -1]).squeeze(1)

model = Adder()
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
loss_fn = nn.MSELoss()
test_x, test_y = adding(500, 16)
for length, steps in [(4, 150), (8, 150), (16, 150)]:
    avg = 0
    for i in range(steps):
        x, y = adding(64, length)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        avg = 0.95 * avg + 0.05 * loss.item()
    with torch.no_grad():
        t = loss_fn(model(test_x), test_y).item()
    print('length', length, 'running mse', round(avg, 4), 'test mse (length 16)', round(t, 4))
print('always answering 1.0 gives', round(((test_y - 1) ** 2).mean().item(), 4))
