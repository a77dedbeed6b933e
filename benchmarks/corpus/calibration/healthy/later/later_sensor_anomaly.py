#!/usr/bin/env python
# coding: utf-8

# # Anomaly detection on machine sensors with an autoencoder

# In[1]:

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

np.random.seed(0)
torch.manual_seed(0)

# ## Data
# 24 sensors driven by 4 hidden operating conditions. In a broken machine some
# sensors stop following the others.

# In[2]:

N_SENSORS, N_HIDDEN = 24, 4
W1 = np.random.randn(N_HIDDEN, 16)
W2 = np.random.randn(16, N_SENSORS) / 4
offset = np.random.uniform(10, 100, N_SENSORS)
gain = np.random.uniform(1, 10, N_SENSORS)

def normal_data(n):
    z = np.random.uniform(-1, 1, (n, N_HIDDEN))
    s = np.tanh(z @ W1 * 0.7) @ W2
    s += 0.03 * np.random.randn(n, N_SENSORS)
    return (s * gain + offset).astype(np.float32)

def broken_data(n):
    a, b = normal_data(n), normal_data(n)
    for row in range(n):
        bad = np.random.choice(N_SENSORS, 5, replace=False)
        a[row, bad] = b[row, bad]
    return a

x_train = normal_data(4000)
x_val = normal_data(1000)
x_test = np.concatenate([normal_data(1000), broken_data(200)])
y_test = np.concatenate([np.zeros(1000), np.ones(200)])

# In[3]:

mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_val, x_test = [torch.tensor((a - mu) / sd) for a in (x_train, x_val, x_test)]
x_train.shape, x_val.shape, x_test.shape

# ## Model

# In[4]:

class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(N_SENSORS, 48), nn.Tanh(),
            nn.Linear(48, 24), nn.Tanh(),
            nn.Linear(24, 5),
        )
        self.decoder = nn.Sequential(
            nn.Linear(5, 24), nn.Tanh(),
            nn.Linear(24, 48), nn.Tanh(),
            nn.Linear(48, N_SENSORS),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))

ae = AutoEncoder()
optimizer = torch.optim.Adam(ae.parameters(), lr=3e-3)
mse = nn.MSELoss()
train_dl = torch.utils.data.DataLoader(x_train, batch_size=64, shuffle=True)

# ## Training

# In[5]:

history = []
for epoch in range(30):
    ae.train()
    tot = 0
    for xb in train_dl:
        rec = ae(xb)
        loss = mse(rec, xb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item() * len(xb)
    ae.eval()
    with torch.no_grad():
        val_loss = mse(ae(x_val), x_val).item()
    history.append((tot / len(x_train), val_loss))
    if epoch % 5 == 4:
        print("epoch %d train %.4f val %.4f" % (epoch + 1, *history[-1]))

# ## Threshold on healthy validation data, then the test set

# In[6]:

def score(x):
    ae.eval()
    with torch.no_grad():
        return ((ae(x) - x) ** 2).mean(dim=1).numpy()

threshold = np.quantile(score(x_val), 0.99)
s_test = score(x_test)
pred = (s_test > threshold).astype(int)

# In[7]:

p, r, f, _ = precision_recall_fscore_support(y_test, pred, average="binary", zero_division=0)
print(f"threshold {threshold:.4f}")
print(f"test precision {p:.3f} recall {r:.3f} F1 {f:.3f} AUROC {roc_auc_score(y_test, s_test):.3f}")
