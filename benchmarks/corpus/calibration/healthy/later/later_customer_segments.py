import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

SEED = 21
np.random.seed(SEED)
torch.manual_seed(SEED)


def load_customers():
    X, y = make_classification(n_samples=3000, n_features=20, n_informative=10, n_redundant=4,
                               n_classes=4, n_clusters_per_class=1, class_sep=1.6,
                               random_state=SEED)
    return X.astype(np.float32), y.astype(np.int64)


def shuffle_data(X, y):
    order = np.random.permutation(len(X))
    X = X[order]
    y = y[order]
    return X, y


def split(X, y, frac=0.8):
    k = int(len(X) * frac)
    return X[:k], y[:k], X[k:], y[k:]


X, y = load_customers()
X, y = shuffle_data(X, y)
X_train, y_train, X_valid, y_valid = split(X, y)

scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_valid = scaler.transform(X_valid)

train_dl = DataLoader(TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train)),
                      batch_size=64, shuffle=True)
valid_dl = DataLoader(TensorDataset(torch.from_numpy(X_valid), torch.from_numpy(y_valid)),
                      batch_size=256)

model = nn.Sequential(
    nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, 4),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)


def fit(epochs):
    history = []
    for epoch in range(epochs):
        model.train()
        tl = 0.0
        for xb, yb in train_dl:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            tl += loss.item()

        model.eval()
        vl, hits = 0.0, 0
        with torch.no_grad():
            for xb, yb in valid_dl:
                out = model(xb)
                vl += criterion(out, yb).item()
                hits += (out.argmax(1) == yb).sum().item()
        history.append(hits / len(X_valid))
        print(f"epoch {epoch + 1:2d}/{epochs} train_loss={tl / len(train_dl):.4f} "
              f"val_loss={vl / len(valid_dl):.4f} val_acc={history[-1]:.3f}")
    return history


hist = fit(12)
print(f"final validation accuracy: {hist[-1]:.3f}")
