import csv
import os
import numpy as np
from PIL import Image

rng = np.random.default_rng(21)
K = 12
protos = []
for k in range(K):
    p = rng.random((6, 6, 3)) * 200 + 25
    protos.append(np.asarray(Image.fromarray(p.astype("uint8")).resize((24, 24), Image.BICUBIC), float))


def sample(k):
    a = np.roll(protos[k], rng.integers(-3, 4, 2), axis=(0, 1)) * rng.uniform(.7, 1.2) + rng.normal(0, 18, (24, 24, 3))
    return Image.fromarray(a.clip(0, 255).astype("uint8"))


for k in range(K):
    os.makedirs(f"Train/{k}", exist_ok=True)
    for i in range(60):
        sample(k).save(f"Train/{k}/{k:02d}_{i:03d}.png")
os.makedirs("Test", exist_ok=True)
with open("Test.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["Path", "ClassId"])
    for i in range(360):
        k = int(rng.integers(K))
        sample(k).save(f"Test/{i:05d}.png")
        w.writerow([f"Test/{i:05d}.png", k])
