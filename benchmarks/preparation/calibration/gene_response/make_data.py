import numpy as np
import pandas as pd

rng = np.random.default_rng(6)
n, p = 120, 2500
X = rng.normal(size=(n, p))
y = rng.permutation(np.arange(n) % 2)
X[:, :4] += 0.35 * y[:, None]
X = X[:, rng.permutation(p)]
df = pd.DataFrame(X.round(3), columns=[f"g{i:04d}" for i in range(p)])
df.insert(0, "responder", np.where(y == 1, "yes", "no"))
df.to_csv("expression.csv", index_label="sample")
