import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

random.seed(52)
rng = np.random.default_rng(52)
font = ImageFont.load_default(size=26)
for label in ["1", "2", "5", "10", "20", "50"]:
    d0 = os.path.join("coins", label)
    os.makedirs(d0, exist_ok=True)
    for i in range(100):
        im = Image.new("L", (56, 56), random.randint(30, 90))
        d = ImageDraw.Draw(im)
        cx, cy, r = 28 + random.uniform(-4, 4), 28 + random.uniform(-4, 4), random.uniform(20, 23)
        g = random.randint(150, 200)
        d.ellipse([cx - r, cy - r, cx + r, cy + r], fill=g, outline=g - 60, width=2)
        d.text((cx, cy), label, fill=40, font=font, anchor="mm")
        im = im.rotate(random.uniform(-15, 15), resample=Image.BILINEAR, fillcolor=60)
        a = np.asarray(im.resize((32, 32), Image.BILINEAR)).astype(float) + rng.normal(0, 5, (32, 32))
        Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(os.path.join(d0, f"{i:03d}.png"))
