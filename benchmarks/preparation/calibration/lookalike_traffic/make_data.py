import numpy as np
import pandas as pd

rng = np.random.default_rng(90)
n = 24 * 120
t = pd.date_range("2022-03-01", periods=n, freq="h")
ar = np.zeros(n)
for i in range(1, n):
    ar[i] = .92 * ar[i - 1] + rng.normal(0, 25)
hour, day = t.hour.to_numpy(), t.day_of_week.to_numpy()
flow = 400 + 250 * np.sin(2 * np.pi * (hour - 7) / 24) - 80 * (day >= 5) + ar
pd.DataFrame({"time": t, "vehicles": flow.clip(0).round().astype(int)}).to_csv("counter.csv", index=False)
