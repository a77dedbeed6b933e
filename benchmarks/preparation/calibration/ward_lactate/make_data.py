import csv
import numpy as np

rng = np.random.default_rng(14)
checks, labs = [], []
for pid in range(1, 421):
    frail = rng.normal()
    length = rng.integers(24, 120)
    times = np.sort(rng.choice(np.arange(6, length), size=min(8, length - 7), replace=False))
    bad = {}
    for t in times:
        hr, sp = rng.normal(84 + 4 * frail, 11), rng.normal(96 - .6 * frail, 1.8)
        z = .9 * frail + .5 * (hr - 84) / 11 - .4 * (sp - 96) / 1.8 + rng.normal(0, 1.3)
        bad[int(t)] = int(z > .9)
        checks.append([pid, int(t), round(hr), round(sp, 1), bad[int(t)]])
    labs.append([pid, 0, round(float(np.exp(.4 + .2 * frail + rng.normal(0, .25))), 2)])
    for t in times:
        gap = rng.uniform(.3, 1.5) if bad[int(t)] else rng.uniform(.5, 2.5)
        boost = .9 if bad[int(t)] else 0
        if bad[int(t)] or rng.random() < .8:
            labs.append([pid, round(float(t + gap), 2), round(float(np.exp(.4 + .2 * frail + boost + rng.normal(0, .25))), 2)])
for name, head, rows in (("checks.csv", ["patient", "hour", "heart_rate", "spo2", "deteriorates"], checks), ("lactate.csv", ["patient", "hour", "lactate"], labs)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(head)
        w.writerows(rows)
