import numpy as np
import pandas as pd

rng = np.random.default_rng(64)
n = 5200
age = rng.integers(19, 95, n)
lactate = np.exp(rng.normal(0.3, 0.5, n))
hr = rng.normal(92, 18, n)
rr = rng.normal(20, 5, n)
sbp = rng.normal(118, 22, n)
temp = rng.normal(37.3, 0.9, n)
wbc = np.exp(rng.normal(2.3, 0.4, n))
z = -6.3 + 0.02 * age + 0.9 * lactate + 0.02 * (hr - 90) + 0.08 * (rr - 20) - 0.02 * (sbp - 118) + 0.35 * np.abs(temp - 37.2) + 0.05 * wbc
y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
df = pd.DataFrame(dict(stay=np.arange(n) + 300000, age=age, lactate=lactate.round(2), hr=hr.round(), rr=rr.round(), sbp=sbp.round(), temp=temp.round(1), wbc=wbc.round(1), sepsis=y))
part = rng.choice(["fit", "eval", "report"], n, p=[0.6, 0.2, 0.2])
for p in ("fit", "eval", "report"):
    df[part == p].to_csv(f"stays_{p}.csv", index=False)
