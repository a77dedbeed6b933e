import os

import cv2
import numpy as np
from PIL import Image

rng = np.random.default_rng(66)
S = 96
for part, n in (("train", 150), ("valid", 50)):
    for sub in ("img", "ann"):
        os.makedirs(f"boards/{part}/{sub}", exist_ok=True)
    for i in range(n):
        base = rng.integers(70, 110)
        img = (base + rng.normal(0, 10, (S, S))).astype(np.float32)
        ann = np.zeros((S, S), np.uint8)
        for _ in range(rng.integers(2, 5)):
            c = (int(rng.integers(8, S - 8)), int(rng.integers(8, S - 8)))
            r = int(rng.integers(5, 9))
            cv2.circle(ann, c, r, 1, -1)
        for _ in range(rng.integers(6, 11)):
            p = tuple(int(v) for v in rng.integers(0, S, 2))
            q = tuple(int(v) for v in rng.integers(0, S, 2))
            cv2.line(ann, p, q, 2, int(rng.integers(1, 3)))
        img[ann == 1] += 55
        img[ann == 2] -= 40
        img = cv2.GaussianBlur(img, (0, 0), 0.7)
        Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(f"boards/{part}/img/{i:03d}.png")
        Image.fromarray(ann).save(f"boards/{part}/ann/{i:03d}.png")
with open("boards/labels.txt", "w") as f:
    f.write("0 board\n1 solder pad\n2 wire\n")
