import argparse
import warnings

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from imblearn.over_sampling import SMOTE
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=FutureWarning)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="card_payments.csv")
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--hidden", type=int, default=64)
    return p.parse_args()


def prepare(path, seed=42):
    df = pd.read_csv(path)
    df["amount"] = np.log1p(df["amount"])
    X = df.drop(columns="fraud").to_numpy(np.float32)
    y = df["fraud"].to_numpy()
    print("frauds: %d of %d" % (y.sum(), len(y)))

    X, y = SMOTE(random_state=seed).fit_resample(X, y)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    return X_train, X_test, y_train, y_test


def main(opts):
    torch.manual_seed(0)
    X_train, X_test, y_train, y_test = prepare(opts.data)
    loader = DataLoader(
        TensorDataset(torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train)), batch_size=128, shuffle=True
    )
    net = nn.Sequential(
        nn.Linear(X_train.shape[1], opts.hidden), nn.ReLU(), nn.Linear(opts.hidden, opts.hidden), nn.ReLU(), nn.Linear(opts.hidden, 2)
    )
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    lossf = nn.CrossEntropyLoss()
    for epoch in range(1, opts.epochs + 1):
        s = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = lossf(net(xb), yb)
            loss.backward()
            opt.step()
            s += loss.item()
        if epoch % 10 == 0:
            print(f"epoch {epoch}: loss {s / len(loader):.4f}")
    net.eval()
    with torch.no_grad():
        pred = net(torch.tensor(X_test, dtype=torch.float32)).argmax(1).numpy()
    print(classification_report(y_test, pred, digits=3))
    print(f"F1 (fraud): {f1_score(y_test, pred):.3f}")


if __name__ == "__main__":
    main(parse())
