import csv
import numpy as np

rng = np.random.default_rng(51)


def show(v, lo, hi, d):
    if v < lo:
        return f"<{lo}"
    if v > hi:
        return f">{hi}"
    return f"{v:.{d}f}"


with open("panel.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["sample", "age", "crp", "ferritin", "troponin", "sodium", "admitted"])
    for i in range(3200):
        age = int(rng.integers(18, 92))
        sev = rng.normal(0, 1)
        crp = np.exp(2.5 + 1.5 * sev + rng.normal(0, 0.4))
        fer = np.exp(4.8 + 0.8 * sev + rng.normal(0, 0.7))
        tro = np.exp(1.4 + 1.1 * sev + rng.normal(0, 0.6))
        na = rng.normal(139, 3)
        z = 2.6 * (abs(sev) - 0.75) if sev > 0 else -2.5
        adm = int(rng.random() < 1 / (1 + np.exp(-1.8 * (z + (age - 55) / 45))))
        w.writerow([f"s{i}", age, show(crp, 5, 40, 1), show(fer, 20, 300, 0), show(tro, 3, 14, 1), f"{na:.0f}", adm])
