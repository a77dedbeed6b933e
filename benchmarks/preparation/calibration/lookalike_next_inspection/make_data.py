import csv
import numpy as np

rng = np.random.default_rng(17)
runs, insp = [], []
for m in range(1, 121):
    wear, t = 0.0, 0.0
    nxt = rng.uniform(20, 40)
    while t < 500:
        t += rng.uniform(4, 12)
        wear += rng.gamma(1.2, .12)
        runs.append([m, round(t, 2), round(.8 + .55 * wear + rng.normal(0, .25), 3), round(61 + 2.2 * wear + rng.normal(0, 1.6), 2)])
        if t > nxt:
            bad = int(wear + rng.normal(0, .15) > 1.5)
            insp.append([m, round(t + .5, 2), bad])
            nxt = t + rng.uniform(20, 40)
            if bad:
                wear = 0.0
for name, head, rows in (("running.csv", ["machine", "hour", "vibration", "bearing_temp"], runs), ("inspections.csv", ["machine", "hour", "worn"], insp)):
    with open(name, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(head)
        w.writerows(rows)
