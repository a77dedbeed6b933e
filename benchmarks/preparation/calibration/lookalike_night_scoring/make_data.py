import gzip
import numpy as np

rng = np.random.default_rng(2)
P = np.array([[0.93, 0.07, 0.0, 0.0], [0.03, 0.92, 0.04, 0.01], [0.01, 0.05, 0.93, 0.01], [0.03, 0.06, 0.0, 0.91]])
with gzip.open("wrist_nights.csv.gz", "wt") as f:
    f.write("night,epoch,activity,heart_rate,skin_temp,stage\n")
    for n in range(26):
        s, base, temp = 0, rng.uniform(54, 70), 33.5
        for e in range(420):
            s = rng.choice(4, p=P[s])
            act = rng.gamma(1.0, [14, 4.5, 3.0, 4.0][s])
            hr = base + [6, 0, -3, 3.5][s] + rng.normal(0, [6, 4.5, 4, 6][s])
            temp += 0.03 * ([33.0, 34.2, 34.6, 34.3][s] - temp) + rng.normal(0, 0.03)
            f.write(f"N{n:02d},{e},{act:.1f},{hr:.1f},{temp:.2f},{['wake', 'light', 'deep', 'rem'][s]}\n")
