import csv
import numpy as np

rng = np.random.default_rng(58)
grades = ["A", "B", "C", "D"]
with open("renewals.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["policy", "claims", "last_claim_eur", "years", "broker_grade", "renewed"])
    for i in range(3000):
        claims = int(rng.poisson(0.7))
        amount = rng.gamma(2, 400) if claims else None
        years = int(rng.integers(1, 20))
        g = grades[rng.integers(4)] if rng.random() < 0.7 else ""
        z = 0.9 - (1.3 if claims else 0) - (0 if amount is None else (amount - 800) / 500) + 0.12 * (years - 8)
        z += {"A": 1.0, "B": 0.4, "C": -0.3, "D": -0.8, "": -1.2}[g]
        w.writerow([i, claims, "" if amount is None else f"{amount:.0f}", years, g, int(rng.random() < 1 / (1 + np.exp(-1.4 * z)))])
