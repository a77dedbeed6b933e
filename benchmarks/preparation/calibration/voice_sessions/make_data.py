import numpy as np
import pandas as pd

rng = np.random.default_rng(40)
names = ["jitter", "shimmer", "hnr", "f0_mean", "f0_sd", "rpde", "dfa", "ppe", "mfcc1", "mfcc2", "mfcc3", "mfcc4"]
w = rng.normal(0, 1, 12)
rows = []
sess = 1000
for s in range(80):
    dx = int(s % 2)
    voice = rng.normal(0, 1.0, 12) + 0.62 * dx * np.sign(w)
    for v in range(int(rng.integers(3, 6))):
        sess += int(rng.integers(1, 9))
        day = voice + rng.normal(0, 0.18, 12)
        for k in range(6):
            x = day + rng.normal(0, 0.35, 12)
            rows.append([f"spk{s:02d}", sess, k + 1, int(45 + 3 * (s % 11)), *np.round(x, 4), dx])
df = pd.DataFrame(rows, columns=["speaker", "session", "phonation", "age"] + names + ["diagnosis"])
df = df.sample(frac=1, random_state=1)
df.to_parquet("voice.parquet", index=False)
