import os

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
VOCABULARY, LENGTH = 300, 40


def verses(n):
    """The mood is set by pairs of neighbouring words, a few in every verse."""
    words = torch.randint(60, VOCABULARY, (n, LENGTH))
    mood = torch.randint(0, 2, (n,))
    for row in range(n):
        for place in torch.randperm(LENGTH // 2)[:4].tolist():
            pair = int(torch.randint(0, 15, (1,)))
            first, second = (2 * pair, 2 * pair + 30) if mood[row] else (2 * pair, 2 * pair + 31 - 30)
            words[row, 2 * place], words[row, 2 * place + 1] = first, second
    return words, mood.float()


class MoodNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 24)
        self.conv = nn.Conv1d(24, 48, 3, padding=1)
        nn.init.zeros_(self.conv.weight)
        nn.init.zeros_(self.conv.bias)
        self.hidden = nn.Linear(48, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, words):
        x = self.embedding(words).transpose(1, 2)
        x = F.relu(self.conv(x)).amax(dim=2)
        x = F.relu(self.hidden(x))
        return self.out(x).squeeze(1)


words, mood = verses(1600)
test_words, test_mood = verses(500)
model = MoodNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(len(words)).split(32):
        optimizer.zero_grad()
        loss = criterion(model(words[rows]), mood[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = ((model(test_words) > 0).float() == test_mood).float().mean().item()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} test accuracy {accuracy:.3f}")
