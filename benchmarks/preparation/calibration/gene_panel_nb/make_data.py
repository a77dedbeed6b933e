import numpy as np

rng = np.random.default_rng(19)
n, g = 180, 2500
y = rng.integers(0, 2, n)
X = rng.normal(0, 1, (n, g))
X[:, :3] += .35 * y[:, None]
cols = rng.permutation(g)
np.savez_compressed("expression.npz", X=X[:, cols].round(2).astype(np.float16), responder=y.astype(np.int8), gene=np.array([f"G{i:05d}" for i in range(g)]))
