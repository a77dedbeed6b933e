import numpy as np
import polars as pl

rng = np.random.default_rng(33)
rows = {k: [] for k in ["machine", "hour", "vibration", "oil_temp", "rpm", "stopped"]}
for m in range(36):
    wear = rng.uniform(0, 0.4)
    for h in range(330):
        wear += rng.gamma(1.2, 0.006)
        rpm = rng.choice([900, 1200, 1500]) + rng.normal(0, 8)
        stop = int(rng.random() < 1 / (1 + np.exp(-(wear - 1.7) * 7)))
        for k, v in zip(rows, [f"M{m:02d}", h, 1.1 + 1.3 * wear ** 2 + 0.0003 * rpm + rng.normal(0, 0.35), 58 + 9 * wear + rng.normal(0, 2.2), rpm, stop]):
            rows[k].append(v)
        if stop:
            wear = rng.uniform(0, 0.3)
df = pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=4)
df.write_parquet("machines.parquet")
