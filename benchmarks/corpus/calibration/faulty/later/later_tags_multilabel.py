import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class TagClassifier(nn.Module):
    """Bag-of-words features in, one score per tag out."""

    def __init__(self, n_words, n_tags, hidden=64, p=0.1):
        super().__init__()
        self.fc1 = nn.Linear(n_words, hidden)
        self.drop = nn.Dropout(p)
        self.fc2 = nn.Linear(hidden, n_tags)

    def forward(self, x):
        h = self.drop(torch.relu(self.fc1(x)))
        return torch.sigmoid(self.fc2(h))


class Trainer:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def predict(self, x):
        self.model.eval()
        return (torch.sigmoid(self.model(x)) > 0.5).int()


if __name__ == "__main__":
    torch.manual_seed(42)
    X, Y = make_multilabel_classification(
        n_samples=2500, n_features=60, n_classes=6, n_labels=2, length=200, random_state=42)
    X_tr, X_te, Y_tr, Y_te = train_test_split(X, Y, test_size=0.2, random_state=0)
    mean, std = X_tr.mean(0), X_tr.std(0) + 1e-6
    X_tr = torch.tensor((X_tr - mean) / std, dtype=torch.float32)
    X_te = torch.tensor((X_te - mean) / std, dtype=torch.float32)
    Y_tr = torch.tensor(Y_tr, dtype=torch.float32)

    loader = DataLoader(TensorDataset(X_tr, Y_tr), batch_size=50, shuffle=True)
    trainer = Trainer(TagClassifier(60, 6))
    for ep in range(1, 21):
        l = trainer.train_epoch(loader)
        if ep % 4 == 0:
            f1 = f1_score(Y_te, trainer.predict(X_te).numpy(), average="micro")
            print(f"ep {ep:02d}  train loss {l:.4f}  test micro-F1 {f1:.3f}")
    f1 = f1_score(Y_te, trainer.predict(X_te).numpy(), average="micro")
    print(f"final micro-F1 {f1:.3f}")
