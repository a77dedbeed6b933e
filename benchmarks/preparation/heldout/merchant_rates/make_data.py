import csv
import numpy as np

rng = np.random.default_rng(88)
n_shop = 900
eff = rng.normal(0, 0.5, n_shop)
with open("basket.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["order", "shop", "courier", "items", "value", "returned"])
    for i in range(3000):
        s = int(rng.integers(n_shop))
        c = int(rng.integers(6))
        k = int(rng.integers(1, 9))
        v = rng.gamma(2, 20)
        z = eff[s] + 0.25 * (c - 2.5) * 0.6 + 0.10 * (k - 4) + 0.006 * (v - 40) - 0.4
        w.writerow([i, f"shop{s}", f"c{c}", k, f"{v:.2f}", int(rng.random() < 1 / (1 + np.exp(-z)))])
