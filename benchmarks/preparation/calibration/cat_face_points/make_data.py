import json
import os
import random

import numpy as np
from PIL import Image, ImageDraw

random.seed(33)
rng = np.random.default_rng(33)
os.makedirs("cats", exist_ok=True)
NAMES = ["left_ear", "right_ear", "left_eye", "right_eye", "nose"]
ann = {"points": NAMES, "images": []}
for i in range(420):
    S = 112
    tone = random.randint(90, 190)
    im = Image.new("L", (S, S), random.randint(20, 70))
    d = ImageDraw.Draw(im)
    cx, cy, r = 56 + random.uniform(-16, 16), 62 + random.uniform(-12, 12), random.uniform(22, 30)
    t = random.uniform(-0.3, 0.3)
    co, si = np.cos(t), np.sin(t)
    def at(u, v):
        return cx + r * (u * co - v * si), cy + r * (u * si + v * co)
    le, re = at(0.75, -1.25), at(-0.75, -1.25)
    d.polygon([le, at(0.25, -0.8), at(0.95, -0.3)], fill=tone - 20)
    d.polygon([re, at(-0.25, -0.8), at(-0.95, -0.3)], fill=tone - 20)
    d.ellipse([cx - r, cy - r, cx + r, cy + r], fill=tone)
    pts = [le, re, at(0.4, -0.2), at(-0.4, -0.2), at(0, 0.25)]
    for x, y in pts[2:4]:
        d.ellipse([x - 4, y - 4, x + 4, y + 4], fill=10)
    x, y = pts[4]
    d.ellipse([x - 3, y - 2, x + 3, y + 2], fill=245)
    a = np.asarray(im.resize((56, 56), Image.BILINEAR)).astype(float) + rng.normal(0, 6, (56, 56))
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"cats/c{i:03d}.png")
    ann["images"].append({"file": f"c{i:03d}.png", "xy": [[round(px / 2, 2), round(py / 2, 2)] for px, py in pts]})
json.dump(ann, open("cats.json", "w"))
