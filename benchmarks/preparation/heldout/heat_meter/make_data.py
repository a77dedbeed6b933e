import csv
import datetime as dt
import numpy as np

rng = np.random.default_rng(27)
start = dt.datetime(2022, 1, 1)
n = 24 * 400
load = np.zeros(n)
out = np.zeros(n)
for i in range(1, n):
    out[i] = 0.97 * out[i - 1] + rng.normal(0, 0.5)
    load[i] = 0.93 * load[i - 1] + rng.normal(0, 1.0) - 0.03 * out[i]
kw = 40 + 3 * load + 4 * np.sin(2 * np.pi * np.arange(n) / 24)
with open("heat.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["time", "kw"])
    for i in range(0, n, 6):
        w.writerow([(start + dt.timedelta(hours=i)).isoformat(sep=" "), f"{kw[i]:.2f}"])
with open("weather.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["time", "outside"])
    for i in range(n):
        w.writerow([(start + dt.timedelta(hours=i)).isoformat(sep=" "), f"{6 + out[i]:.2f}"])
