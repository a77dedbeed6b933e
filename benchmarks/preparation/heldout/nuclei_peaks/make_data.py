import numpy as np

rng = np.random.default_rng(12)
N, S = 260, 56
imgs = np.zeros((N, S, S), np.uint8)
centres, owner = [], []
yy, xx = np.mgrid[0:S, 0:S]
for k in range(N):
    a = 40 + rng.normal(0, 8, (S, S))
    taken = []
    for _ in range(rng.integers(2, 6)):
        for _try in range(30):
            r, c = rng.uniform(5, S - 5, 2)
            if all((r - p) ** 2 + (c - q) ** 2 > 110 for p, q in taken):
                break
        else:
            continue
        taken.append((r, c))
        s = rng.uniform(1.8, 2.8)
        a += rng.uniform(70, 150) * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / (2 * s * s))
    for _ in range(2):
        r, c = rng.uniform(0, S, 2)
        a += 50 * np.exp(-((yy - r) ** 2 / 160 + (xx - c) ** 2 / 30))
    imgs[k] = a.clip(0, 255)
    for r, c in taken:
        centres.append((r, c))
        owner.append(k)
np.savez_compressed("nuclei.npz", images=imgs, centres=np.array(centres, np.float32).round(1), image_index=np.array(owner))
with open("README.txt", "w") as f:
    f.write("nuclei.npz\n images: N x 56 x 56 uint8\n centres: one line per nucleus, (row, col) as measured by the blob finder\n image_index: which image a line belongs to\n")
