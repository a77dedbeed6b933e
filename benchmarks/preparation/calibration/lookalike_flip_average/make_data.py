import numpy as np

rng = np.random.default_rng(83)
S = 28
yy, xx = np.mgrid[:S, :S]


def cell(k):
    a = rng.normal(0, 22, (S, S)) + 110
    cx, cy = rng.uniform(9, 19, 2)
    d = np.hypot(xx - cx, yy - cy)
    r = rng.uniform(5, 8)
    if k == 0:
        a += 50 * (d < r)
    elif k == 1:
        a += 60 * (np.abs(d - r) < 1.5)
    else:
        t = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
        v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
        a += 55 * ((np.abs(u) < r) & (np.abs(v) < 2.2))
    return a.clip(0, 255).astype(np.uint8)


for part, n in (("train", 480), ("test", 240)):
    y = rng.integers(0, 3, n)
    np.savez_compressed(f"cells_{part}.npz", x=np.stack([cell(k) for k in y]), y=y)
