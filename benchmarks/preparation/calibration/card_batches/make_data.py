import csv
import numpy as np

rng = np.random.default_rng(55)
n = 9000
kinds = ["grocery", "fuel", "travel", "online", "cash"]
with open("card_payments.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["paid_at", "amount", "merchant", "km_from_home", "minutes_since_last", "night", "is_fraud"])
    t = np.datetime64("2023-05-01T00:00:00")
    for i in range(n):
        t = t + np.timedelta64(int(rng.exponential(300)) + 1, "s")
        fraud = int(rng.random() < 0.013)
        k = rng.choice(5, p=[0.1, 0.05, 0.2, 0.45, 0.2]) if fraud and rng.random() < 0.8 else rng.choice(5, p=[0.4, 0.2, 0.08, 0.25, 0.07])
        amount = np.exp(rng.normal(3.2 + 1.7 * fraud, 0.8))
        km = np.exp(rng.normal(1.4 + 2.2 * fraud, 1.0))
        gap = np.exp(rng.normal(6 - 2.0 * fraud, 1.2))
        w.writerow([str(t).replace("T", " "), f"{amount:.2f}", kinds[k], f"{km:.1f}", f"{gap:.1f}", int(rng.random() < 0.15 + 0.25 * fraud), fraud])
