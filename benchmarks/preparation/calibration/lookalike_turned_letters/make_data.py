import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

random.seed(12)
rng = np.random.default_rng(12)
font = ImageFont.load_default(size=26)
rows = []
os.makedirs("plates", exist_ok=True)
for i in range(540):
    ch = random.choice("HIOX8")
    im = Image.new("L", (48, 48), 225)
    d = ImageDraw.Draw(im)
    d.text((24 + random.uniform(-6, 6), 24 + random.uniform(-6, 6)), ch, fill=random.randint(20, 70), font=font, anchor="mm")
    im = im.rotate(random.choice([0, 0, 180]) + random.uniform(-12, 12), fillcolor=225, resample=Image.BILINEAR)
    a = np.asarray(im.resize((32, 32), Image.BILINEAR)).astype(float) + rng.normal(0, 10, (32, 32))
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"plates/{i:04d}.png")
    rows.append(f"{i:04d}.png {ch} {'test' if i >= 400 else 'train'}")
open("plates/labels.txt", "w").write("\n".join(rows) + "\n")
