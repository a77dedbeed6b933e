import numpy as np
import pandas as pd

rng = np.random.default_rng(66)
n = 1500
cid = rng.permutation(np.arange(1, n + 1))
age = rng.integers(18, 80, n)
news = rng.integers(0, 2, n)
rate = np.where(rng.random(n) < .45, 0, rng.gamma(2, 2, n))
k = rng.poisson(rate)
rows = [(f"{c}", round(float(rng.gamma(2, 20)), 2), int(rng.random() < .1)) for c, m in zip(cid, k) for _ in range(m)]
orders = pd.DataFrame(rows, columns=["client", "amount", "returned"]).sample(frac=1, random_state=1)
z = .5 * np.log1p(k) * 2 + .5 * news - .01 * (age - 40) - 1.0 + rng.logistic(0, .5, n)
pd.DataFrame({"client": cid, "age": age, "newsletter": news, "renewed": (z > 0).astype(int)}).to_parquet("clients.parquet", index=False)
orders.to_csv("orders.csv", index=False)
