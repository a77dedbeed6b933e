import numpy as np
import pandas as pd


def make_features(df, cfg):
    """One row per hour; predicts the load of that hour from what came before."""
    y = cfg["target"]
    out = pd.DataFrame(index=df.index)
    for k in cfg["lags"]:
        out[f"lag_{k}"] = df[y].shift(k)
    for w in cfg["windows"]:
        out[f"mean_{w}"] = df[y].rolling(w).mean()
        out[f"std_{w}"] = df[y].rolling(w).std()
    out["temp_prev"] = df["temp_c"].shift(1)
    hour = df["ts"].dt.hour
    out["h_sin"], out["h_cos"] = np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12)
    out["weekend"] = (df["ts"].dt.weekday >= 5).astype(float)
    return out
