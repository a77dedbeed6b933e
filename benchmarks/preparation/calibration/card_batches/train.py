import logging
from collections import defaultdict

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import f1_score, precision_score, recall_score
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="%(levelname).1s %(message)s", level=logging.INFO)
logger = logging.getLogger(__name__)


class FraudData:
    numeric = ["amount", "km_from_home", "minutes_since_last"]

    def __init__(self, path, test_share=0.3):
        df = pd.read_csv(path, parse_dates=["paid_at"]).sort_values("paid_at")
        x = np.log1p(df[self.numeric].to_numpy(np.float32))
        k = int(len(df) * (1 - test_share))
        x = (x - x[:k].mean(0)) / x[:k].std(0)
        merchant = pd.get_dummies(df["merchant"]).to_numpy(np.float32)
        x = np.hstack([x, merchant, df[["night"]].to_numpy(np.float32)])
        y = df["is_fraud"].to_numpy(np.float32)
        self.train = TensorDataset(torch.from_numpy(x[:k]), torch.from_numpy(y[:k]))
        self.test = TensorDataset(torch.from_numpy(x[k:]), torch.from_numpy(y[k:]))
        self.n_features = x.shape[1]
        self.weight = float((1 - y[:k]).sum() / y[:k].sum()) ** 0.5


class Trainer:
    def __init__(self, model, data, lr=2e-3, batch_size=32):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(data.weight))
        self.train_loader = DataLoader(data.train, batch_size=batch_size, shuffle=True)
        self.test_loader = DataLoader(data.test, batch_size=batch_size)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            self.opt.zero_grad()
            loss = self.loss(self.model(x).squeeze(1), y)
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        history = defaultdict(list)
        for x, y in self.test_loader:
            pred = (torch.sigmoid(self.model(x).squeeze(1)) > 0.5).int().numpy()
            true = y.int().numpy()
            history["precision"].append(precision_score(true, pred, zero_division=1))
            history["recall"].append(recall_score(true, pred, zero_division=1))
            history["f1"].append(f1_score(true, pred, zero_division=1))
        return {name: float(np.mean(values)) for name, values in history.items()}


if __name__ == "__main__":
    torch.manual_seed(9)
    data = FraudData("card_payments.csv")
    model = torch.nn.Sequential(
        torch.nn.Linear(data.n_features, 32), torch.nn.ReLU(),
        torch.nn.Linear(32, 32), torch.nn.ReLU(),
        torch.nn.Linear(32, 1))
    trainer = Trainer(model, data)
    logger.info("train %d  test %d  features %d", len(data.train), len(data.test), data.n_features)
    for epoch in range(8):
        logger.info("epoch %d loss %.4f", epoch, trainer.train_epoch())
    result = trainer.evaluate()
    print("  ".join(f"{k} {v:.3f}" for k, v in result.items()))
