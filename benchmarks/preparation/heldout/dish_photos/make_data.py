import json
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

rng = np.random.default_rng(5)
os.makedirs("photos", exist_ok=True)
TURN = {1: None, 3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
pts = {}
for i in range(700):
    portrait = rng.random() < 0.5
    W, H = (60, 80) if portrait else (80, 60)
    base = rng.integers(150, 200)
    im = Image.fromarray((base + rng.normal(0, 9, (H, W, 3))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    for _ in range(rng.integers(3, 7)):
        x, y, r = rng.uniform(4, W - 4), rng.uniform(4, H - 4), rng.uniform(2, 5)
        g = int(rng.integers(90, 150))
        d.ellipse([x - r, y - r, x + r, y + r], fill=(g, g + 10, g))
    x, y, r = rng.uniform(7, W - 7), rng.uniform(7, H - 7), rng.uniform(3.5, 5)
    d.ellipse([x - r, y - r, x + r, y + r], fill=(200, 60, 50))
    im = im.filter(ImageFilter.GaussianBlur(0.6))
    orient = int(rng.choice([6, 8])) if portrait else int(rng.choice([1, 1, 3]))
    stored = im if TURN[orient] is None else im.transpose(TURN[orient])
    exif = Image.Exif()
    exif[0x0112] = orient
    exif[0x010F] = "PhoneCam"
    name = f"IMG_{1000 + i}.jpg"
    stored.save(f"photos/{name}", quality=88, exif=exif)
    pts[name] = {"x": round(x / W, 4), "y": round(y / H, 4)}
json.dump(pts, open("clicks.json", "w"), indent=0)
