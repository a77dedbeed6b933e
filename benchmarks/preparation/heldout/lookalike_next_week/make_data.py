import csv
import datetime as dt
import numpy as np

rng = np.random.default_rng(47)
with open("sales.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["store", "day", "promo_next_week", "sales"])
    for s in range(25):
        base, lvl = rng.normal(100, 25), 0.0
        promo = rng.random(300) < 0.25
        for d in range(240):
            lvl = 0.97 * lvl + rng.normal(0, 3)
            v = base + lvl + 12 * np.sin(2 * np.pi * d / 7) + 18 * promo[d] + rng.normal(0, 4)
            w.writerow([f"s{s:02d}", dt.date(2023, 1, 1) + dt.timedelta(days=d), int(promo[d + 7]), f"{v:.1f}"])
