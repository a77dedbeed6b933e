import numpy as np
import pandas as pd


def read_rentals(path):
    df = pd.read_csv(path)
    df["date"] = pd.to_datetime(df["date"], format="mixed")
    return df


def add_calendar(df):
    doy = df["date"].dt.dayofyear
    df["sin_year"] = np.sin(2 * np.pi * doy / 365.25)
    df["cos_year"] = np.cos(2 * np.pi * doy / 365.25)
    for d in range(7):
        df[f"dow_{d}"] = (df["date"].dt.dayofweek == d).astype("float32")
    return df


def build(path):
    df = add_calendar(read_rentals(path))
    df = pd.concat([df, pd.get_dummies(df["station"], prefix="st", dtype="float32")], axis=1)
    cols = [c for c in df.columns if c.startswith(("sin_", "cos_", "dow_", "st_"))]
    df["docks"] = (df["docks"] - 16) / 4
    cols.append("docks")
    return df[cols].to_numpy("float32"), df["rentals"].to_numpy("float32"), df["date"]
