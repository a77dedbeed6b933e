import numpy as np
import pandas as pd
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn

LEAD = 12      # warn if the machine stops within the next LEAD hours
HISTORY = 8


def load(path):
    df = pd.read_parquet(path)
    return df.sort_values(["machine", "hour"]).reset_index(drop=True)


def label(df):
    g = df.groupby("machine")["stopped"]
    ahead = pd.concat([g.shift(-k) for k in range(1, LEAD + 1)], axis=1)
    df["warn"] = ahead.max(axis=1).where(ahead.notna().all(axis=1))
    return df


def features(df):
    g = df.groupby("machine")
    out = {}
    for c in ("vibration", "oil_temp", "rpm"):
        for k in range(HISTORY):
            out[f"{c}_{k}"] = g[c].shift(k)
        out[f"{c}_slow"] = g[c].transform(lambda s: s.ewm(halflife=10).mean())
    out["since_stop"] = np.log1p(g["stopped"].transform(lambda s: s.groupby(s.cumsum()).cumcount()))
    return pd.DataFrame(out)


def main():
    torch.manual_seed(77)
    df = label(load("machines.parquet"))
    X = features(df)
    keep = X.notna().all(axis=1) & df["warn"].notna()
    df, X = df[keep], X[keep]
    names = sorted(df["machine"].unique())
    test = df["machine"].isin(names[::4]).to_numpy()
    x = X.to_numpy(np.float32)
    x = (x - x[~test].mean(0)) / x[~test].std(0)
    y = df["warn"].to_numpy(np.float32)
    xa, ya, xb = torch.from_numpy(x[~test]), torch.from_numpy(y[~test]), torch.from_numpy(x[test])
    print("machines", len(names), "rows", len(xa), "/", len(xb), "share of warnings", round(float(y.mean()), 3))

    net = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ELU(), nn.Dropout(0.3), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(10):
        net.train()
        for b in torch.randperm(len(xa)).split(128):
            loss = nn.functional.binary_cross_entropy_with_logits(net(xa[b])[:, 0], ya[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))

    net.eval()
    with torch.no_grad():
        p = torch.sigmoid(net(xb)[:, 0]).numpy()
    print(f"AUC {roc_auc_score(y[test], p):.3f}  average precision {average_precision_score(y[test], p):.3f}")


if __name__ == "__main__":
    main()
