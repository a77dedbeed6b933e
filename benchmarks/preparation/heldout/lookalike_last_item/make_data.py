import csv
import numpy as np

rng = np.random.default_rng(26)
genre = rng.integers(0, 8, 160)
pop = rng.gamma(1.2, 1.0, 160)
with open("plays.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["user", "film", "ts"])
    for u in range(500):
        fav = rng.choice(8, 2, replace=False)
        p = pop * np.where(np.isin(genre, fav), 12.0, 0.5)
        seen = rng.choice(160, int(rng.integers(6, 16)), replace=False, p=p / p.sum())
        t0 = int(rng.integers(1_600_000_000, 1_610_000_000))
        for it in seen:
            t0 += int(rng.integers(8000, 90000))
            w.writerow([f"u{u}", f"f{it}", t0])
