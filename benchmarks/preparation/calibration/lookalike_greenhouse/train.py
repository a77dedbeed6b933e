"""Growth class of lettuce trays from the climate log (script for the lab course)."""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

torch.manual_seed(0)

# measuring range of each probe, from the data sheets
RANGES = {"temp_c": (-10, 60), "rel_humidity": (0, 100), "light_lux": (0, 120000), "co2_ppm": (0, 2000)}

data = pd.read_csv("greenhouse.csv")
limits = np.array(list(RANGES.values()), dtype=float).T
scaler = MinMaxScaler(feature_range=(-1, 1)).fit(limits)
X = scaler.transform(data[list(RANGES)].to_numpy())
print(pd.DataFrame(X, columns=list(RANGES)).describe().loc[["min", "mean", "max"]].round(2))
y = (data["growth"] == "good").to_numpy().astype(int)

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
X_train, X_test = (torch.tensor(a, dtype=torch.float32) for a in (X_train, X_test))
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(1, 41):
    for idx in torch.randperm(len(X_train)).split(128):
        loss = nn.functional.cross_entropy(model(X_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f}")

print("parameters:", sum(p.numel() for p in model.parameters()))
model.eval()
with torch.no_grad():
    print(f"train accuracy {(model(X_train).argmax(1) == y_train).float().mean():.3f}")
    print(f"test accuracy {(model(X_test).argmax(1) == y_test).float().mean():.3f}")
