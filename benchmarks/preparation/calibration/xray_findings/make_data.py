import csv

import numpy as np

rng = np.random.default_rng(14)
N, S = 1500, 24
yy, xx = np.mgrid[:S, :S]
truth = (rng.random((N, 3)) < [0.4, 0.35, 0.45]).astype(int)
imgs = np.zeros((N, S, S), np.uint8)
for i in range(N):
    a = 110 + 25 * np.cos((xx - 12) / 5.0) + rng.normal(0, 16, (S, S))
    if truth[i, 0]:
        a += 30 * np.exp(-((xx - 12 - rng.normal(0, 1)) ** 2 + (yy - 15) ** 2) / 28)
    if truth[i, 1]:
        a[18:] += rng.uniform(18, 32)
    if truth[i, 2]:
        cx, cy = rng.uniform(3, 20), rng.uniform(3, 14)
        a += 60 * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 5)
    imgs[i] = a.clip(0, 255)
np.savez_compressed("studies.npz", study=np.arange(N), image=imgs)
cols = ["Cardiomegaly", "Effusion", "Nodule"]
with open("reports.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["study", "part"] + cols)
    for i in range(N):
        test = i >= 1100
        row = []
        for k in range(3):
            v = truth[i, k]
            if not test:
                u = rng.random()
                if v and u < 0.54:
                    v = -1 if u < 0.34 else ""
                elif not v and u < 0.25:
                    v = "" if u < 0.2 else -1
            row.append(v)
        w.writerow([i, "test" if test else "train"] + row)
