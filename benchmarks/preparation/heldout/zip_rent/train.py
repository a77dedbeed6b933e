import logging

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("rent")

CFG = {"seed": 4, "epochs": 40, "batch": 64, "lr": 2e-3, "holdout": 600}
AREA_COLS = ["median_income", "transit_score", "crime_rate"]
UNIT_COLS = ["rooms", "sqft", "floor"]


def build_table():
    listings = pd.read_csv("listings.csv", dtype={"zip": str})
    areas = pd.read_csv("areas.csv")
    areas["zip"] = areas["zip"].astype(str)
    table = listings.merge(areas, on="zip", how="left")
    table[AREA_COLS] = table[AREA_COLS].fillna(table[AREA_COLS].median())
    log.info("table has %d rows and %d columns", *table.shape)
    return table


class RentSet(Dataset):
    def __init__(self, frame, stats):
        mu, sd, ymu, ysd = stats
        self.x = torch.tensor(((frame[UNIT_COLS + AREA_COLS] - mu) / sd).to_numpy(np.float32))
        self.y = torch.tensor(((frame["rent"] - ymu) / ysd).to_numpy(np.float32))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    torch.manual_seed(CFG["seed"])
    table = build_table().sample(frac=1.0, random_state=CFG["seed"])
    test, train = table.iloc[:CFG["holdout"]], table.iloc[CFG["holdout"]:]
    feats = train[UNIT_COLS + AREA_COLS]
    stats = (feats.mean(), feats.std(), train["rent"].mean(), train["rent"].std())
    loader = DataLoader(RentSet(train, stats), batch_size=CFG["batch"], shuffle=True)
    held = RentSet(test, stats)

    model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optim = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    for epoch in range(CFG["epochs"]):
        losses = []
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(model(x).squeeze(-1), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
            losses.append(loss.item())
        if (epoch + 1) % 10 == 0:
            log.info("epoch %d train loss %.4f", epoch + 1, float(np.mean(losses)))

    model.eval()
    with torch.no_grad():
        pred = model(held.x).squeeze(-1) * stats[3] + stats[2]
    mae = (pred.numpy() - test["rent"].to_numpy())
    print(f"test MAE {np.abs(mae).mean():.1f}")


if __name__ == "__main__":
    main()
