import json
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(45)
TAGS = ["bench", "bin", "bike", "cart", "cone", "crate", "dog", "fence", "hedge", "kiosk", "lamp", "mast", "pond", "sign", "stall", "tent"]
COL = {t: tuple(int(v) for v in rng.integers(30, 225, 3)) for t in TAGS}
SHAPE = {t: i % 4 for i, t in enumerate(TAGS)}
S = 40
for part, n in (("train", 420), ("val", 140), ("test", 48)):
    os.makedirs(part, exist_ok=True)
    tags = {}
    for i in range(n):
        im = Image.fromarray((rng.integers(90, 150) + rng.normal(0, 16, (S, S, 3))).clip(0, 255).astype(np.uint8))
        d = ImageDraw.Draw(im)
        for _ in range(5):
            x, y = rng.uniform(0, S, 2)
            d.rectangle([x, y, x + rng.uniform(2, 8), y + rng.uniform(2, 8)], fill=(int(rng.integers(60, 200)),) * 3)
        have = [t for t in TAGS if rng.random() < 0.12]
        for t in have:
            if rng.random() < 0.15:
                continue
            x, y = rng.uniform(2, S - 10, 2)
            w = rng.uniform(5, 8)
            c = tuple(int(v) for v in np.clip(np.array(COL[t]) + rng.normal(0, 10, 3), 0, 255))
            k = SHAPE[t]
            if k == 0:
                d.rectangle([x, y, x + w, y + w], fill=c)
            elif k == 1:
                d.ellipse([x, y, x + w, y + w], fill=c)
            elif k == 2:
                d.polygon([(x, y + w), (x + w, y + w), (x + w / 2, y)], fill=c)
            else:
                d.rectangle([x, y, x + w / 2, y + 1.6 * w], fill=c)
        name = f"{i:04d}.jpg"
        im.save(f"{part}/{name}", quality=90)
        tags[name] = have
    json.dump(tags, open(f"{part}.json", "w"))
json.dump(TAGS, open("tags.json", "w"))
