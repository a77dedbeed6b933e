import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    parser = argparse.ArgumentParser(description="Read hand-drawn digits of 8x8 pixels")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=2000)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
    return parser.parse_args()


SEGMENTS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]


def glyphs(count):
    """Seven-segment digits, shifted and smeared."""
    labels = torch.randint(0, 10, (count,))
    images = torch.zeros(count, 8, 8)
    for image, label in zip(images, labels.tolist()):
        s = [int(bit) for bit in SEGMENTS[label]]
        dx = int(torch.randint(0, 4, ()))
        image[0, dx : dx + 5] += s[0]
        image[0:4, dx] += s[1]
        image[0:4, dx + 4] += s[2]
        image[3, dx : dx + 5] += s[3]
        image[4:8, dx] += s[4]
        image[4:8, dx + 4] += s[5]
        image[7, dx : dx + 5] += s[6]
    return (images.clamp(0, 1) + 0.35 * torch.randn(count, 8, 8)).flatten(1), labels


class Reader(nn.Module):
    def __init__(self):
        super(Reader, self).__init__()
        self.fc1 = nn.Linear(64, 96)
        self.fc2 = nn.Linear(96, 48)
        self.fc3 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return F.log_softmax(self.fc3(x), dim=1)


def train(args, model, data, labels, optimizer, epoch):
    model.train()
    order = torch.randperm(len(data))
    for i in range(0, len(data), args.batch_size):
        rows = order[i : i + args.batch_size]
        optimizer.zero_grad()
        output = model(data[rows])
        loss = F.nll_loss(output, labels[rows])
        loss.backward()
        optimizer.step()
    print(f"Train epoch {epoch}: loss {loss.item():.4f}")


def test(model, data, labels):
    model.eval()
    with torch.no_grad():
        pred = model(data).argmax(dim=1)
    print(f"Test accuracy: {(pred == labels).float().mean().item():.4f}")


args = parse()
torch.manual_seed(args.seed)
train_x, train_y = glyphs(2000)
test_x, test_y = glyphs(400)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
for epoch in range(1, args.epochs + 1):
    train(args, model, train_x, train_y, optimizer, epoch)
    test(model, test_x, test_y)
