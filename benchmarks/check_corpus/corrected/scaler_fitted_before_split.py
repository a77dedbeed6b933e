import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

table = np.loadtxt("yield.csv", delimiter=",", skiprows=1)
X, y = table[:, :-1], table[:, -1:]
scaler = StandardScaler()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)
X_train, X_test = scaler.fit_transform(X_train), scaler.transform(X_test)
x = torch.tensor(X_train, dtype=torch.float32)
t = torch.tensor(y_train, dtype=torch.float32)
net = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(100):
    for b in torch.randperm(len(x)).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[b]), t[b])
        loss.backward()
        opt.step()
