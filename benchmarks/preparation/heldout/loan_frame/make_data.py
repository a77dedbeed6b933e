import csv
import numpy as np

rng = np.random.default_rng(5)
purposes = ["car", "home", "study", "medical", "holiday", "debt"]
regions = ["north", "south", "east", "west", "centre"]
pe = dict(zip(purposes, [-1.6, -1.0, 0.3, 0.9, 1.5, 2.1]))
re_ = dict(zip(regions, [-0.9, 0.9, -0.4, 0.4, 0.0]))
with open("loans.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["loan_id", "income", "age", "amount", "purpose", "region", "defaulted"])
    for i in range(3500):
        p, r = rng.choice(purposes), rng.choice(regions)
        inc = rng.lognormal(10.3, 0.4)
        age = rng.integers(20, 70)
        amt = rng.lognormal(9, 0.5)
        z = 1.4 * pe[p] + 1.3 * re_[r] + 0.8 * (np.log(amt) - 9) - 0.9 * (np.log(inc) - 10.3) - 0.3
        d = int(rng.random() < 1 / (1 + np.exp(-1.6 * z)))
        inc_s = "" if rng.random() < 0.12 else f"{inc:.0f}"
        w.writerow([f"L{i:05d}", inc_s, age, f"{amt:.0f}", p, r, d])
