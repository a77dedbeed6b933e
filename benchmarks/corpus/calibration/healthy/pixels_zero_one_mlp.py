import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

SEGMENTS = {  # seven-segment digits: top, upper left, upper right, middle, lower left, lower right, bottom
    0: "1110111", 1: "0010010", 2: "1011101", 3: "1011011", 4: "0111010",
    5: "1101011", 6: "1101111", 7: "1010010", 8: "1111111", 9: "1111011",
}


def render(d):
    img = torch.zeros(13, 9)
    s = [c == "1" for c in SEGMENTS[d]]
    if s[0]: img[1, 2:7] = 1
    if s[1]: img[1:7, 2] = 1
    if s[2]: img[1:7, 6] = 1
    if s[3]: img[6, 2:7] = 1
    if s[4]: img[6:12, 2] = 1
    if s[5]: img[6:12, 6] = 1
    if s[6]: img[11, 2:7] = 1
    return img


GLYPHS = torch.stack([render(d) for d in range(10)])


def dataset(n):
    y = torch.randint(0, 10, (n,))
    x = GLYPHS[y]
    sx, sy = torch.randint(-1, 2, (2, n))
    x = torch.stack([torch.roll(img, (int(a), int(b)), (0, 1)) for img, a, b in zip(x, sy, sx)])
    x = x * (torch.rand_like(x) > 0.1) * (0.6 + 0.4 * torch.rand(n, 1, 1)) + 0.2 * torch.rand_like(x)
    return x.clamp(0, 1).flatten(1), y


class DigitMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(117, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


x_train, y_train = dataset(2400)
x_test, y_test = dataset(600)
model = DigitMLP()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(x_train)).split(60):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        test_loss = F.nll_loss(model(x_test), y_test).item()
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"Epoch {epoch}: train {loss.item():.4f} test {test_loss:.4f} acc {acc:.3f}")
