import torch
from torch import nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(3)


def build_mlp(n_in, width=32, depth=8):
    layers = []
    d = n_in
    for _ in range(depth):
        layers.append(nn.Linear(d, width))
        layers.append(nn.ReLU())
        d = width
    layers.append(nn.Linear(d, 1))
    return nn.Sequential(*layers)


data = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, test_size=0.25, random_state=3, stratify=data.target)
sc = StandardScaler()
X_train = torch.tensor(sc.fit_transform(X_train), dtype=torch.float32)
X_test = torch.tensor(sc.transform(X_test), dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.float32).view(-1, 1)
y_test = torch.tensor(y_test, dtype=torch.float32).view(-1, 1)

net = build_mlp(X_train.shape[1])
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(40):
    net.train()
    ep_loss = 0.0
    batches = torch.randperm(len(X_train)).split(32)
    for b in batches:
        opt.zero_grad()
        loss = loss_fn(net(X_train[b]), y_train[b])
        loss.backward()
        opt.step()
        ep_loss += loss.item()
    if epoch % 5 == 0 or epoch == 39:
        net.eval()
        with torch.no_grad():
            pred = (net(X_test) > 0).float()
        acc = (pred == y_test).float().mean().item()
        print(f"epoch {epoch:2d}  loss {ep_loss / len(batches):.4f}  test acc {acc:.3f}")

print(f"test accuracy {acc:.3f}")
