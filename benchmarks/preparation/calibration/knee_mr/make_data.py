import h5py
import numpy as np

rng = np.random.default_rng(3)
n_pat, per, s = 60, 18, 20
yy, xx = np.mgrid[0:s, 0:s] / s
imgs, labels, pid = [], [], []
for p in range(n_pat):
    lab = p % 2
    base = sum(rng.normal(0, 1) * np.sin(2 * np.pi * (rng.uniform(.5, 3) * xx + rng.uniform(.5, 3) * yy) + rng.uniform(0, 6)) for _ in range(5))
    base = base + rng.normal(0, .8)
    for k in range(per):
        im = base * (1 + .08 * rng.normal()) + rng.normal(0, .6, (s, s))
        im[8:12, 8:12] += (0.55 if lab else -0.55) + rng.normal(0, .9)
        imgs.append(im)
        labels.append(lab)
        pid.append(f"K{p:03d}")
imgs = np.stack(imgs)
imgs = ((imgs - imgs.min()) / (imgs.max() - imgs.min()) * 255).astype("uint8")
with h5py.File("knees.h5", "w") as f:
    f.create_dataset("slices", data=imgs, compression="gzip")
    f.create_dataset("tear", data=np.array(labels, "int64"))
    f.create_dataset("patient", data=np.array(pid, dtype="S8"))
    f.create_dataset("slice_no", data=np.tile(np.arange(per), n_pat))
