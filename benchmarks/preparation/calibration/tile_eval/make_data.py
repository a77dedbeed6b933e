import numpy as np

rng = np.random.default_rng(71)
N, S = 560, 32
yy, xx = np.mgrid[0:S, 0:S]
imgs, lab = [], []
for n in range(N):
    k = n % 4
    im = rng.normal(150, 9, (S, S, 3)) + rng.normal(0, 14, 3)
    f = rng.uniform(0.9, 1.3)
    ph = rng.uniform(0, 6.28)
    im += 9 * np.sin(f * (xx * np.cos(ph) + yy * np.sin(ph)))[..., None]
    if k:
        cx, cy = rng.uniform(9, 23, 2)
        r = np.hypot(xx - cx, yy - cy)
        ang = np.arctan2(yy - cy, xx - cx)
        if k == 1:
            m = np.abs((xx - cx) * np.cos(ph) + (yy - cy) * np.sin(ph)) < 1.0
            m &= r < 9
        elif k == 2:
            m = r < 3.2
        else:
            m = (np.abs(r - 4.5) < 1.0)
        im[m] -= rng.uniform(65, 95)
    imgs.append(np.clip(im, 0, 255).astype(np.uint8))
    lab.append(["sound", "scratch", "pit", "ring"][k])
o = rng.permutation(N)
np.savez_compressed("tiles.npz", image=np.stack(imgs)[o], defect=np.array(lab)[o])
