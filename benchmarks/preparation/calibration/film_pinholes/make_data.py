import os

import cv2
import numpy as np

rng = np.random.default_rng(66)
S = 180
yy, xx = np.mgrid[:S, :S]
for part, n in (("train", 240), ("check", 120)):
    for label in ("ok", "holed"):
        d = os.path.join("film", part, label)
        os.makedirs(d, exist_ok=True)
        for i in range(n // 2):
            a = 120 + 20 * np.sin(xx / rng.uniform(25, 60) + rng.uniform(0, 6)) + 15 * np.cos(yy / rng.uniform(25, 60))
            for _ in range(rng.integers(0, 4)):
                x, y, r = rng.integers(20, 160), rng.integers(20, 160), rng.integers(8, 16)
                a[(xx - x) ** 2 + (yy - y) ** 2 < r * r] += rng.uniform(-18, 18)
            a = np.round(a / 2) * 2
            if label == "holed":
                for _ in range(2):
                    x, y = rng.integers(4, S - 6, 2)
                    a[y:y + 2, x:x + 2] = 255
            cv2.imwrite(os.path.join(d, f"s{i:03d}.png"), a.clip(0, 255).astype(np.uint8), [cv2.IMWRITE_PNG_COMPRESSION, 3])
