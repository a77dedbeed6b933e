from dataclasses import dataclass

import polars as pl
import torch
from torch import nn


@dataclass
class Settings:
    epochs: int = 20
    batch: int = 64
    lr: float = 4e-3
    seed: int = 23


def read(path: str) -> pl.DataFrame:
    # the zero offset found at the last service is noted once, in the device's first row;
    # devices that never needed one have none
    return (
        pl.read_csv(path, schema_overrides={"zero_offset": pl.Float64})
        .sort("device", "step")
        .with_columns(pl.col("zero_offset").forward_fill().fill_null(0.0))
    )


def tensors(df):
    x = df.select("pressure", "flow", "zero_offset").to_torch(dtype=pl.Float32)
    y = df["valve_leaking"].to_torch().float()
    return x, y


class LeakNet(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.f1 = nn.Linear(3, 24)
        self.f2 = nn.Linear(24, 24)
        self.f3 = nn.Linear(24, 1)

    def forward(self, x):
        x = (x - self.mean) / self.std
        x = torch.relu(self.f1(x))
        x = torch.relu(self.f2(x))
        return self.f3(x).squeeze(-1)


def fit(x, y, cfg):
    net = LeakNet(x.mean(0), x.std(0))
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(cfg.epochs):
        total = 0.0
        for i in torch.randperm(len(x)).split(cfg.batch):
            opt.zero_grad()
            loss = bce(net(x[i]), y[i])
            loss.backward()
            opt.step()
            total += loss.item() * len(i)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}/{cfg.epochs} loss {total / len(x):.4f}")
    return net.eval()


if __name__ == "__main__":
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    bench, field = read("bench.csv"), read("field.csv")
    print(f"bench: {bench['device'].n_unique()} devices, field: {field['device'].n_unique()} devices")
    net = fit(*tensors(bench), cfg)
    xf, yf = tensors(field)
    with torch.no_grad():
        acc = ((net(xf) > 0) == (yf > 0.5)).float().mean().item()
    print(f"field accuracy {acc:.3f}")
