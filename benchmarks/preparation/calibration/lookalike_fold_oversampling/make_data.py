import numpy as np
import pandas as pd

rng = np.random.default_rng(91)
n = 1500
y = (rng.random(n) < .1).astype(int)
df = pd.DataFrame({f"ecg_{k}": rng.normal(.55 * y * (k < 5), 1) for k in range(12)}).round(3)
df["event"] = y
df.to_csv("holter.csv", index=False)
