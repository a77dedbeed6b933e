import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
TOPICS, VOCAB = 5, 120


class TopicNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, 24)
        self.fc1 = nn.Linear(24, 32)
        self.fc2 = nn.Linear(32, TOPICS)

    def forward(self, doc):
        x = torch.relu(self.fc1(self.emb(doc)))
        return self.fc2(x)


def documents(n):
    topic = torch.randint(0, TOPICS, (n,))
    common = torch.randint(TOPICS * 10, VOCAB, (n, 15))
    topical = topic[:, None] * 10 + torch.randint(0, 10, (n, 15))
    return torch.where(torch.rand(n, 15) < 0.25, topical, common), topic


docs, topics = documents(1200)
docs_val, topics_val = documents(400)
model = TopicNet()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    total = 0.0
    for idx in torch.randperm(1200).split(40):
        optimizer.zero_grad()
        loss = criterion(model(docs[idx]), topics[idx])
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(docs_val).argmax(1) == topics_val).float().mean().item()
    print(f"epoch {epoch} loss {total / 30:.3f} val acc {acc:.3f}")
