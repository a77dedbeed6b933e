# Daily heat demand of flats from the readings of their meters
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(1)

df = pd.read_csv("zaehler.csv", sep=";", dtype=str)
df.columns = [c.lower() for c in df.columns]
num_cols = ["vorlauf", "ruecklauf", "durchfluss", "flaeche", "baujahr", "kwh"]
for c in num_cols:
    df[c] = df[c].str.strip().str.replace(",", "", regex=False).astype(float)
df = df.dropna()
print(df[num_cols].describe().loc[["count", "mean"]].round(1).to_string())

features = num_cols[:-1]
tr, te = train_test_split(df, test_size=0.25, random_state=8)
sc = StandardScaler().fit(tr[features])
ysc = StandardScaler().fit(tr[["kwh"]])


def tensors(part):
    X = torch.tensor(sc.transform(part[features]), dtype=torch.float32)
    y = torch.tensor(ysc.transform(part[["kwh"]]), dtype=torch.float32)
    return X, y


Xtr, ytr = tensors(tr)
Xte, _ = tensors(te)

model = torch.nn.Sequential(
    torch.nn.Linear(len(features), 48), torch.nn.Tanh(),
    torch.nn.Linear(48, 48), torch.nn.Tanh(),
    torch.nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(Xtr, ytr), batch_size=64, shuffle=True)

for epoch in range(40):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: mse {running / len(Xtr):.4f}")

with torch.no_grad():
    pred = ysc.inverse_transform(model(Xte).numpy())[:, 0]
truth = te["kwh"].to_numpy()
mae = np.abs(pred - truth).mean()
r2 = 1 - ((pred - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
print(f"test MAE {mae:.2f} kWh")
print(f"test R2 {r2:.3f}")
