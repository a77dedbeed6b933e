# cracks in weld seams: rare class copied up, then split
import numpy as np
import pandas as pd
import torch
from imblearn.over_sampling import RandomOverSampler
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 18
torch.manual_seed(SEED)

welds = pd.read_csv("welds.csv", index_col="seam")
X = welds.drop(columns="crack").to_numpy(np.float32)
y = welds["crack"].to_numpy()
print(f"{len(y)} seams, {y.sum()} cracked")

ros = RandomOverSampler(sampling_strategy=0.5, random_state=SEED)
X_more, y_more = ros.fit_resample(X, y)
origin = ros.sample_indices_
print(f"{len(y_more)} rows after copying, {y_more.sum()} cracked")

# a seam goes with all its copies; the test counts every seam once
seams_fit, seams_test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=SEED)
in_fit = np.isin(origin, seams_fit)
x_fit, t_fit = torch.tensor(X_more[in_fit]), torch.tensor(y_more[in_fit], dtype=torch.float32)
x_test, t_test = torch.tensor(X[seams_test]), y[seams_test]

net = nn.Sequential(nn.Linear(5, 32), nn.ELU(), nn.Linear(32, 16), nn.ELU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(1, 21):
    losses = []
    for b in torch.randperm(len(x_fit)).split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x_fit[b]).flatten(), t_fit[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")

with torch.no_grad():
    score = net(x_test).flatten().numpy()
print(f"{int(t_test.sum())} cracked seams among {len(t_test)} in the test")
print(f"test AUC {roc_auc_score(t_test, score):.3f}")
