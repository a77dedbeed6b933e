import numpy as np
import pandas as pd

rng = np.random.default_rng(303)
n, d = 2500, 14
y = (rng.random(n) < 0.04).astype(int)
X = rng.normal(0, 1, (n, d))
X[y == 1, :4] += 0.85
X[:, 5] = np.abs(X[:, 5]) * 40
df = pd.DataFrame(X, columns=[f"v{i}" for i in range(d)]).round(4)
df["is_fraud"] = y
df.to_parquet("card_payments.parquet")
