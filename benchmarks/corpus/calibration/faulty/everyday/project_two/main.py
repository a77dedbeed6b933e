import argparse
import os

import torch
from dataset import Churn
from engine import evaluate, train_one_epoch
from network import ChurnNet
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()

torch.manual_seed(int(os.environ.get("SEED", 0)))
train = DataLoader(Churn(1200, 0), batch_size=32, shuffle=True)
val = DataLoader(Churn(400, 1), batch_size=100)
model = ChurnNet()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
criterion = torch.nn.BCELoss()
for epoch in range(args.epochs):
    loss = train_one_epoch(model, train, optimizer, criterion)
    print(f"epoch {epoch} train loss {loss:.4f} val acc {evaluate(model, val):.4f}")
