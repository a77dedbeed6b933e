import numpy as np
import pandas as pd
import torch
from imblearn.over_sampling import RandomOverSampler
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from torch import nn

torch.manual_seed(0)
df = pd.read_csv("holter.csv")
X = df.filter(like="ecg_").to_numpy(np.float32)
y = df["event"].to_numpy()


def network(n_inputs):
    return nn.Sequential(
        nn.Linear(n_inputs, 12),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(12, 2),
    )


rows = np.arange(len(X)).reshape(-1, 1)
print("class counts before balancing:", np.bincount(y))

balanced, precision = [], []
for fold, (tr, te) in enumerate(StratifiedKFold(n_splits=4, shuffle=True, random_state=5).split(X, y), 1):
    idx, _ = RandomOverSampler(random_state=fold).fit_resample(rows[tr], y[tr])
    idx = idx.ravel()
    mean, std = X[tr].mean(0), X[tr].std(0)
    xb, yb = torch.tensor((X[idx] - mean) / std), torch.tensor(y[idx])
    net = network(X.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=4e-3, weight_decay=1e-3)
    for epoch in range(8):
        for b in torch.randperm(len(xb)).split(64):
            loss = nn.functional.cross_entropy(net(xb[b]), yb[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        prob = net(torch.tensor((X[te] - mean) / std)).softmax(1)[:, 1].numpy()
    balanced.append(balanced_accuracy_score(y[te], prob > 0.5))
    precision.append(average_precision_score(y[te], prob))
    print(f"fold {fold}: {len(tr)} rows balanced to {len(idx)}, loss {loss.item():.3f}, balanced accuracy {balanced[-1]:.3f}")
print(f"balanced accuracy {np.mean(balanced):.3f}, average precision {np.mean(precision):.3f}")
