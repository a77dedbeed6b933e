import csv
import numpy as np

rng = np.random.default_rng(52)
with open("voice_features.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["member", "session", "clip"] + [f"mfcc{i}" for i in range(13)])
    centre = rng.normal(0, 1, (15, 13))
    for m in range(15):
        for s in range(1, 6):
            drift = rng.normal(0, .45, 13)
            for c in range(24):
                w.writerow([f"member{m:02d}", s, c] + [f"{v:.3f}" for v in centre[m] + drift + rng.normal(0, .8, 13)])
