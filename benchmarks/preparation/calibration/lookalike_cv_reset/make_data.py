import numpy as np
import h5py

rng = np.random.default_rng(58)
n = 500
y = rng.integers(0, 3, n)
x = rng.normal(0, 1, (n, 60))
t = np.arange(60)
for i in range(n):
    x[i] += 1.2 * np.sin(2 * np.pi * t / [12, 15, 19][y[i]] + rng.uniform(0, 6))
with h5py.File("vibration.h5", "w") as f:
    f["signal"] = x.astype("float32")
    f["state"] = y
