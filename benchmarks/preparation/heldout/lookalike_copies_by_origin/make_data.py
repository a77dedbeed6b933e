import csv
import numpy as np

rng = np.random.default_rng(83)
with open("welds.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["seam", "current", "voltage", "speed", "gas", "temp", "crack"])
    for i in range(2600):
        v = rng.normal(0, 1, 5)
        z = 2.2 * v[0] - 1.6 * v[2] + 1.0 * v[0] * v[1] - 4.6
        w.writerow([i] + [f"{a:.3f}" for a in v] + [int(rng.random() < 1 / (1 + np.exp(-z)))])
