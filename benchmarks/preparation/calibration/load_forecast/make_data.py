import json
import numpy as np
import pandas as pd

rng = np.random.default_rng(19)
n = 24 * 150
t = pd.date_range("2023-02-01", periods=n, freq="h")
temp = 8 + 6 * np.sin(2 * np.pi * (np.arange(n) - 800) / (24 * 180)) + 3 * np.sin(2 * np.pi * (t.hour - 9) / 24) + rng.normal(0, 1, n)
base = 50 + 12 * np.sin(2 * np.pi * (t.hour - 8) / 24) - 6 * (t.weekday >= 5) - 0.6 * temp
ar = np.zeros(n)
for i in range(1, n):
    ar[i] = 0.6 * ar[i - 1] + rng.normal(0, 4)
pd.DataFrame({"ts": t, "load_mw": base + ar, "temp_c": temp}).to_parquet("load.parquet")
json.dump({"file": "load.parquet", "target": "load_mw", "lags": [1, 2, 24, 168], "windows": [3, 24],
           "test_days": 30, "epochs": 40, "lr": 0.003, "hidden": 48}, open("config.json", "w"), indent=2)
