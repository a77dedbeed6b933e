import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
rng = np.random.default_rng(7)

TAGS = ["politics", "sport", "economy", "science", "health", "travel", "arts", "chess"]
PREVALENCE = np.array([0.30, 0.25, 0.20, 0.15, 0.12, 0.08, 0.06, 0.04])
N_FEATURES = 40


def synth(n, prototypes):
    Y = (rng.random((n, len(TAGS))) < PREVALENCE).astype(np.float32)
    hidden = Y @ prototypes + 0.9 * rng.standard_normal((n, N_FEATURES))
    X = np.tanh(hidden) * np.linspace(1, 20, N_FEATURES) + np.linspace(-5, 30, N_FEATURES)
    return X.astype(np.float32), Y


class TagNet(nn.Module):
    def __init__(self, d_in, d_hidden, d_out):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_in, d_hidden),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(d_hidden, d_hidden),
            nn.ReLU(),
            nn.Linear(d_hidden, d_out),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.net(x)


def predict(model, X):
    model.eval()
    with torch.no_grad():
        return torch.sigmoid(model(X))


def report(model, X, Y):
    probs = predict(model, X).numpy()
    f1 = f1_score(Y, probs > 0.5, average="macro", zero_division=0)
    ap = average_precision_score(Y, probs, average="macro")
    return f1, ap


prototypes = rng.standard_normal((len(TAGS), N_FEATURES)) * 0.8
X_train, Y_train = synth(4000, prototypes)
X_val, Y_val = synth(800, prototypes)
X_test, Y_test = synth(1200, prototypes)

mu, sigma = X_train.mean(0), X_train.std(0)
X_train, X_val, X_test = [torch.from_numpy((a - mu) / sigma) for a in (X_train, X_val, X_test)]
Y_train_t = torch.from_numpy(Y_train)

pos = Y_train_t.sum(0)
pos_weight = (len(Y_train_t) - pos) / pos
print("pos_weight:", [round(v, 1) for v in pos_weight.tolist()])

loader = DataLoader(TensorDataset(X_train, Y_train_t), batch_size=64, shuffle=True)
model = TagNet(N_FEATURES, 64, len(TAGS))
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
opt = optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)

for epoch in range(20):
    model.train()
    epoch_loss = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * xb.size(0)
    f1, ap = report(model, X_val, Y_val)
    print(f"epoch {epoch:2d} | loss {epoch_loss / len(X_train):.4f} | val macro-F1 {f1:.4f} | val mAP {ap:.4f}")

f1, ap = report(model, X_test, Y_test)
print(f"TEST macro-F1 {f1:.4f} mAP {ap:.4f}")
