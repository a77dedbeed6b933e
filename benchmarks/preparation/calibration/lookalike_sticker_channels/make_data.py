import os

import cv2
import numpy as np

rng = np.random.default_rng(101)
INK = {"blue": (200, 80, 40), "red": (50, 60, 205), "green": (70, 170, 60), "violet": (180, 70, 150)}
for part, n in (("train", 90), ("test", 40)):
    for name, ink in INK.items():
        d = os.path.join("stickers", part, name)
        os.makedirs(d, exist_ok=True)
        for i in range(n):
            img = np.full((40, 40, 3), rng.integers(120, 230), np.float64)
            c = np.array(ink) + rng.normal(0, 18, 3)
            x, y = rng.integers(4, 18, 2)
            w, h = rng.integers(10, 20, 2)
            img[y:y + h, x:x + w] = c
            img += rng.normal(0, 9, img.shape)
            cv2.imwrite(os.path.join(d, f"{i:03d}.png"), img.clip(0, 255).astype(np.uint8))
