import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(29)
PAL = [0, 0, 0, 128, 0, 0, 0, 128, 0] + [0] * (252 * 3) + [224, 224, 192]
os.makedirs("scenes", exist_ok=True)
for i in range(200):
    im = Image.new("RGB", (48, 48), (90, 90, 100))
    m = Image.new("P", (48, 48), 0)
    m.putpalette(PAL)
    di, dm = ImageDraw.Draw(im), ImageDraw.Draw(m)
    for _ in range(rng.integers(1, 4)):
        k = int(rng.integers(1, 3))
        x, y = rng.uniform(8, 40, 2)
        r = rng.uniform(5, 10)
        box = [x - r, y - r, x + r, y + r]
        if k == 1:
            di.ellipse(box, fill=(170, 80, 60))
            dm.ellipse(box, fill=1, outline=255, width=2)
        else:
            di.rectangle(box, fill=(80, 150, 90))
            dm.rectangle(box, fill=2, outline=255, width=2)
    a = np.asarray(im).astype(float) + rng.normal(0, 22, (48, 48, 3))
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"scenes/s{i:03d}.png")
    m.save(f"scenes/s{i:03d}_label.png")
