import numpy as np

rng = np.random.default_rng(6)
N, S = 200, 44
x = np.zeros((N, S, S), np.uint8)
m = np.zeros((N, S, S), bool)
yy, xx = np.mgrid[0:S, 0:S]
for i in range(N):
    a = 90 + rng.normal(0, 14, (S, S)) + 0.6 * xx
    c, r = rng.uniform(8, 30), rng.uniform(10, 34)
    t = rng.uniform(0, 3.1)
    u = (xx - c) * np.cos(t) + (yy - r) * np.sin(t)
    v = -(xx - c) * np.sin(t) + (yy - r) * np.cos(t)
    m[i] = (u / rng.uniform(7, 11)) ** 2 + (v / rng.uniform(4, 6)) ** 2 < 1
    a[m[i]] += rng.uniform(25, 55)
    q, w = rng.uniform(0, S, 2)
    a -= 40 * np.exp(-((yy - q) ** 2 + (xx - w) ** 2) / 30)
    x[i] = a.clip(0, 255)
np.savez_compressed("scans.npz", scan=x, lesion=m)
