"""
Credit card approval, simple MLP.
usage: python train.py [epochs]
"""
import sys
import pandas as pd
import torch
import torch.nn as nn
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 25
torch.manual_seed(10)


def read_cards(path):
    df = pd.read_csv(path)
    df.columns = [c.strip().lower() for c in df.columns]
    df = df.drop_duplicates("client").set_index("client")
    y = df.pop("approved").astype(int)
    for col in df.columns:
        df[col] = pd.to_numeric(df[col], errors="coerce")
    return df, y


df, y = read_cards("cards.csv")
print(df.dtypes.to_string())
x_train, x_test, y_train, y_test = train_test_split(df, y, test_size=0.3, random_state=10, stratify=y)

# some clients did not give an income
prep = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
x_train = torch.tensor(prep.fit_transform(x_train), dtype=torch.float32)
x_test = torch.tensor(prep.transform(x_test), dtype=torch.float32)
t_train = torch.tensor(y_train.values, dtype=torch.float32)


class Approver(nn.Module):
    def __init__(self, n_features, hidden=(32, 16)):
        super().__init__()
        layers, last = [], n_features
        for h in hidden:
            layers += [nn.Linear(last, h), nn.ReLU()]
            last = h
        layers.append(nn.Linear(last, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x).flatten()


model = Approver(x_train.shape[1])
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.004)

for epoch in range(1, EPOCHS + 1):
    model.train()
    epoch_loss = 0
    for idx in torch.randperm(len(x_train)).split(50):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), t_train[idx])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(idx)
    if epoch % 5 == 0:
        print("Epoch %2d/%d - loss: %.4f" % (epoch, EPOCHS, epoch_loss / len(x_train)))

model.eval()
with torch.no_grad():
    prob = torch.sigmoid(model(x_test)).numpy()
print("Test accuracy: %.4f" % accuracy_score(y_test, prob > 0.5))
print("Test AUC: %.4f" % roc_auc_score(y_test, prob))
