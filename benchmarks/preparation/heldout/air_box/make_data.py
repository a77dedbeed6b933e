import csv
import math
import numpy as np

rng = np.random.default_rng(19)
n = 3000
traffic = 0.0
temp = 15.0
with open("air_box.csv", "w", newline="") as f:
    w = csv.writer(f, delimiter=";")
    w.writerow(["hour", "co", "nmhc", "o3", "temperature", "humidity", "benzene_ref"])
    off = {}
    for i in range(n):
        rush = 1.2 + math.sin(2 * math.pi * (i % 24) / 24) + 0.5 * math.sin(4 * math.pi * (i % 24) / 24)
        traffic = 0.7 * traffic + 0.3 * rush + rng.normal(0, 0.25)
        temp = 15 + 6 * math.sin(2 * math.pi * (i % 24 - 8) / 24) + rng.normal(0, 1)
        hum = 60 - 1.5 * (temp - 15) + rng.normal(0, 4)
        vals = [1.2 + 0.8 * traffic + rng.normal(0, 0.1), 2.0 + 0.9 * traffic + rng.normal(0, 0.25),
                4.5 - 0.9 * traffic + 0.1 * (temp - 15) + rng.normal(0, 0.25), temp, hum]
        ref = 6 + 4.5 * traffic + 0.12 * (temp - 15) + rng.normal(0, 0.35)
        out = []
        for k, v in enumerate(vals):
            if off.get(k, 0) > 0:
                off[k] -= 1
                out.append("-200")
            else:
                if rng.random() < 0.06:
                    off[k] = int(rng.integers(1, 4))
                out.append(f"{v:.2f}")
        w.writerow([i] + out + [f"{ref:.2f}"])
