import csv
import numpy as np

rng = np.random.default_rng(72)
n = 6000
rain = np.zeros(n)
with open("gauge.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["hour", "rain_mm", "upstream_m", "level_m"])
    up = np.zeros(n)
    lev = np.zeros(n)
    storm = 0
    for t in range(1, n):
        if storm == 0 and rng.random() < 0.03:
            storm = int(rng.integers(3, 12))
        rain[t] = rng.gamma(2, 1.5) if storm > 0 else 0.0
        storm = max(storm - 1, 0)
        up[t] = 0.88 * up[t - 1] + 0.05 * rain[t]
        src = up[t - 4] if t >= 4 else 0.0
        lev[t] = 0.80 * lev[t - 1] + 0.22 * src + rng.normal(0, 0.02)
    for t in range(n):
        w.writerow([t, f"{rain[t]:.1f}", f"{0.6 + up[t] + rng.normal(0, 0.01):.3f}", f"{1.1 + lev[t]:.3f}"])
