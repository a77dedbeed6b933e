import argparse
import numpy as np
import pandas as pd
import torch
from imblearn.over_sampling import SMOTE
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import RobustScaler
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="card_payments.parquet")
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--seed", type=int, default=13)
    return p.parse_args()


class FraudNet(torch.nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(d, h), torch.nn.ReLU(),
            torch.nn.Linear(h, h), torch.nn.ReLU(),
            torch.nn.Linear(h, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def prepare(args):
    df = pd.read_parquet(args.data)
    X, y = df.drop(columns="is_fraud").to_numpy(), df["is_fraud"].to_numpy()
    print(f"{len(y)} payments, {y.mean():.1%} fraud")
    X, y = SMOTE(random_state=args.seed).fit_resample(X, y)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=args.seed)
    scaler = RobustScaler().fit(X_tr)
    as32 = lambda a: torch.as_tensor(np.asarray(a), dtype=torch.float32)
    return as32(scaler.transform(X_tr)), as32(y_tr), as32(scaler.transform(X_te)), y_te


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x_tr, y_tr, x_te, y_te = prepare(args)
    print(f"train {len(x_tr)} ({y_tr.mean().item():.1%} fraud), test {len(x_te)}")
    net = FraudNet(x_tr.shape[1], args.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    lossf = torch.nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in DataLoader(TensorDataset(x_tr, y_tr), batch_size=128, shuffle=True):
            loss = lossf(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:3d} loss {total / len(x_tr):.4f}")
    with torch.no_grad():
        p = torch.sigmoid(net(x_te)).numpy()
    print(f"test F1 {f1_score(y_te, p > 0.5):.3f}")
    print(f"test average precision {average_precision_score(y_te, p):.3f}")


if __name__ == "__main__":
    main()
