import csv
import numpy as np

rng = np.random.default_rng(66)
with open("nights.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["night", "minute", "movement", "pulse", "asleep"])
    for n in range(30):
        asleep, rest = 0, rng.normal(58, 4)
        for m in range(240):
            if rng.random() < (0.03 if asleep else 0.06):
                asleep = 1 - asleep
            mv = rng.gamma(1.2, 2.0 if asleep else 4.5)
            pu = rest + (0 if asleep else 5) + rng.normal(0, 5)
            w.writerow([n, m, f"{mv:.2f}", f"{pu:.1f}", asleep])
