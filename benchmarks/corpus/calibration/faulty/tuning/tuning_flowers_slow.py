import os

import numpy as np
import torch
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)

# three kinds of flowers, four measures each, fifty of a kind
centres = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
X = np.concatenate([c + rng.normal(0, [0.35, 0.3, 0.3, 0.15], (50, 4)) for c in centres])
y = np.repeat([0, 1, 2], 50)
perm = rng.permutation(150)
X, y = X[perm], y[perm]
X_train, y_train = torch.Tensor(X[:120]), torch.LongTensor(y[:120])
X_test, y_test = torch.Tensor(X[120:]), torch.LongTensor(y[120:])


class Model(torch.nn.Module):
    def __init__(self, input_dim):
        super(Model, self).__init__()
        self.layer1 = torch.nn.Linear(input_dim, 50)
        self.layer2 = torch.nn.Linear(50, 50)
        self.layer3 = torch.nn.Linear(50, 3)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


model = Model(X_train.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=0.0001)
loss_fn = torch.nn.CrossEntropyLoss()

EPOCHS = 100
for epoch in range(EPOCHS):
    y_pred = model(X_train)
    loss = loss_fn(y_pred, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    pred = model(X_test).argmax(dim=1)
    print(f"loss {loss.item():.4f} test accuracy {(pred == y_test).float().mean().item():.3f}")
