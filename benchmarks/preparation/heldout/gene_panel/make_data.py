import numpy as np

rng = np.random.default_rng(101)
n, p = 140, 3000
y = rng.permutation(np.repeat([0, 1], n // 2))
X = rng.normal(0, 1, (n, p))
X[:, rng.choice(p, 5, replace=False)] += 0.30 * (2 * y[:, None] - 1)
X += rng.normal(0, 0.3, (1, p))
np.savez_compressed("expression.npz", x=X.astype(np.float16), relapse=y.astype(np.int8),
                    gene=np.array([f"G{i:04d}" for i in range(p)]))
