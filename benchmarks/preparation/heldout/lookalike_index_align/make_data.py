import csv
import numpy as np

rng = np.random.default_rng(59)
ids = [f"B{n}" for n in rng.permutation(np.arange(100, 2600))]
rows, labels = [], []
for i in ids:
    v = rng.normal(0, 1, 6)
    k = int(np.argmax([v[0] + v[1], v[2] - v[3], 0.8 * v[4] + 0.8 * v[5]] + rng.normal(0, 0.25, 3)))
    rows.append([i] + [f"{a:.3f}" for a in v] + [int(rng.random() < 0.06)])
    labels.append((i, ["thin", "thick", "torn"][k]))
with open("films.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["sheet", "m0", "m1", "m2", "m3", "m4", "m5", "spoilt"])
    w.writerows(rows)
with open("verdicts.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["sheet", "verdict"])
    w.writerows(sorted(labels))
