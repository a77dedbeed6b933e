# Wine quality with 5-fold cross validation in PyTorch
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import LabelEncoder, StandardScaler
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

torch.manual_seed(42)
np.random.seed(42)

k_folds = 5
num_epochs = 20
batch_size = 20

df = pd.read_csv("wine.csv", sep=";")
labels = LabelEncoder().fit_transform(df["quality"])
features = df.drop("quality", axis=1).values


class WineNet(nn.Module):
    def __init__(self, n_in=11, n_out=3):
        super(WineNet, self).__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, n_out),
        )

    def forward(self, x):
        return self.layers(x)


network = WineNet()
loss_function = nn.CrossEntropyLoss()
kfold = StratifiedKFold(n_splits=k_folds, shuffle=True, random_state=42)
results = {}

for fold, (train_ids, test_ids) in enumerate(kfold.split(features, labels)):
    print(f"FOLD {fold}")
    scaler = StandardScaler().fit(features[train_ids])
    dataset = TensorDataset(torch.tensor(scaler.transform(features), dtype=torch.float32), torch.tensor(labels))
    trainloader = DataLoader(dataset, batch_size=batch_size, sampler=SubsetRandomSampler(train_ids))
    testloader = DataLoader(dataset, batch_size=batch_size, sampler=SubsetRandomSampler(test_ids))

    optimizer = optim.Adam(network.parameters(), lr=1e-3)

    for epoch in range(num_epochs):
        network.train()
        current_loss = 0.0
        for inputs, targets in trainloader:
            optimizer.zero_grad()
            outputs = network(inputs)
            loss = loss_function(outputs, targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
        if epoch % 10 == 9:
            print(f"  epoch {epoch + 1}: loss {current_loss / len(trainloader):.3f}")

    correct, total = 0, 0
    network.eval()
    with torch.no_grad():
        for inputs, targets in testloader:
            predicted = network(inputs).argmax(dim=1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    results[fold] = 100.0 * correct / total
    print(f"  accuracy: {results[fold]:.1f} %")

print(f"K-FOLD RESULTS, {k_folds} folds, average: {np.mean(list(results.values())):.2f} %")
