import json
import os
import random

import numpy as np
from PIL import Image, ImageDraw

random.seed(19)
rng = np.random.default_rng(19)
os.makedirs("fundus", exist_ok=True)
names = []
for i in range(150):
    S = 120
    img = Image.new("RGB", (S, S), (20, 10, 10))
    m = Image.new("L", (S, S), 0)
    di, dm = ImageDraw.Draw(img), ImageDraw.Draw(m)
    r = 54
    di.ellipse([60 - r, 60 - r, 60 + r, 60 + r], fill=(150, 80, 50))
    dm.ellipse([60 - r, 60 - r, 60 + r, 60 + r], fill=1)
    cx, cy = random.uniform(40, 80), random.uniform(40, 80)
    di.ellipse([cx - 10, cy - 10, cx + 10, cy + 10], fill=(230, 200, 120))
    dm.ellipse([cx - 10, cy - 10, cx + 10, cy + 10], fill=2)
    for _ in range(random.randint(2, 5)):
        x, y, k = random.uniform(25, 95), random.uniform(25, 95), random.uniform(2, 4)
        di.ellipse([x - k, y - k, x + k, y + k], fill=(70, 40, 130))
        dm.ellipse([x - k, y - k, x + k, y + k], fill=3)
    for _ in range(6):
        x, y = cx, cy
        a = random.uniform(0, 6.28)
        for _ in range(12):
            a += random.gauss(0, 0.25)
            nx, ny = x + 5 * np.cos(a), y + 5 * np.sin(a)
            if (nx - 60) ** 2 + (ny - 60) ** 2 > (r - 2) ** 2:
                break
            di.line([x, y, nx, ny], fill=(40, 110, 60), width=3)
            dm.line([x, y, nx, ny], fill=4, width=3)
            x, y = nx, ny
    a = np.asarray(img).astype(float) + rng.normal(0, 5, (S, S, 3))
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"fundus/eye{i:03d}.jpg", quality=92)
    m.save(f"fundus/eye{i:03d}_mask.png")
    names.append(f"eye{i:03d}")
json.dump({"train": names[:115], "test": names[115:], "classes": ["background", "retina", "disc", "lesion", "vessel"]}, open("split.json", "w"))
