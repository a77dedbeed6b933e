import numpy as np

rng = np.random.default_rng(54)
S, KINDS = 32, ["beetle", "moth", "spider", "wasp"]
yy, xx = np.mgrid[0:S, 0:S]
X, Y = [], []
for i in range(560):
    k = rng.integers(4)
    a = 180 + rng.normal(0, 16, (S, S))
    c, r = rng.uniform(12, 20, 2)
    t = rng.uniform(0, 2 * np.pi)
    u = (xx - c) * np.cos(t) + (yy - r) * np.sin(t)
    v = -(xx - c) * np.sin(t) + (yy - r) * np.cos(t)
    body = (u / 7) ** 2 + (v / [4, 2, 3.5, 2][k]) ** 2 < 1
    a[body] -= 110
    if k == 1:
        a[((u + 1) / 4) ** 2 + ((np.abs(v) - 6) / 4.5) ** 2 < 1] -= 80
    if k == 2:
        for s in (-5, -2, 1, 4):
            a[(np.abs(u - s) < 0.7) & (np.abs(v) < 10)] -= 80
    if k == 3:
        a[((u - 1) / 2) ** 2 + ((np.abs(v) - 5) / 5) ** 2 < 1] -= 45
        a[body & (np.sin(u * 1.6) > 0.2)] += 70
    X.append(a.clip(0, 255).astype(np.uint8))
    Y.append(KINDS[k])
np.savez_compressed("insects.npz", image=np.stack(X), name=np.array(Y))
