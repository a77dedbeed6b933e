import csv
import numpy as np

rng = np.random.default_rng(17)
checks, tests = [], []
for cow in range(120):
    base = rng.normal(5.0, 0.25)
    sick_until = -1
    hours = np.arange(6, 24 * 60, 24)
    level = base
    for h in rng.uniform(-48, 0, 1):
        tests.append((cow, float(h), base + rng.normal(0, 0.15)))
    for h in hours:
        level = base + 0.75 * (level - base) + rng.normal(0, 0.18)
        risk = 1 / (1 + np.exp(-(4.0 * (level - 5.0) - 1.8)))
        ill = int(rng.random() < risk)
        milk = 28 - 2.2 * (level - 5.0) + rng.normal(0, 2.2)
        cond = 4.8 + 0.35 * (level - 5.0) + rng.normal(0, 0.30)
        checks.append((cow, float(h), milk, cond, ill))
        if ill:
            tests.append((cow, float(h + rng.uniform(2, 10)), level + 0.7 + rng.normal(0, 0.3)))
            level -= 0.15
        elif rng.random() < 0.5:
            tests.append((cow, float(h + rng.uniform(-11, 11)), level + rng.normal(0, 0.15)))
with open("checks.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["cow", "hour", "milk_kg", "conductivity", "treated_next_day"])
    for c, h, m, k, i in checks:
        w.writerow([c, f"{h:.2f}", f"{m:.2f}", f"{k:.3f}", i])
with open("cell_counts.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["cow", "hour", "log_scc"])
    for c, h, s in sorted(tests, key=lambda r: (r[0], r[1])):
        w.writerow([c, f"{h:.2f}", f"{s:.3f}"])
