import json
import math
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(52)
S = 40
KINDS = ["straight", "turn_left", "turn_right", "merge", "crossing"]


def draw(kind):
    im = Image.fromarray((rng.integers(60, 100) + rng.normal(0, 9, (S, S, 3))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    ox, oy = rng.uniform(-4, 4, 2)
    k = rng.uniform(0.8, 1.1)
    c = int(rng.integers(190, 250))
    col = (c, c, c - int(rng.integers(0, 40)))
    P = lambda *pts: [(20 + ox + k * (x - 20), 20 + oy + k * (y - 20)) for x, y in pts]
    w = int(rng.integers(3, 5))
    if kind == "straight":
        d.line(P((20, 33), (20, 10)), fill=col, width=w)
        d.polygon(P((14, 14), (26, 14), (20, 6)), fill=col)
    elif kind in ("turn_left", "turn_right"):
        m = (lambda x: x) if kind == "turn_right" else (lambda x: 40 - x)
        d.line(P((m(15), 34), (m(15), 18), (m(26), 18)), fill=col, width=w)
        d.polygon(P((m(25), 12), (m(25), 24), (m(33), 18)), fill=col)
    elif kind == "merge":
        d.line(P((12, 34), (20, 22), (20, 8)), fill=col, width=w)
        d.line(P((28, 34), (20, 22)), fill=col, width=w)
    else:
        for x in range(8, 34, 6):
            d.rectangle(P((x, 10), (x + 3, 30))[0] + P((x, 10), (x + 3, 30))[1], fill=col)
    return im.rotate(rng.uniform(-12, 12), resample=Image.BILINEAR, fillcolor=(80, 80, 80))


os.makedirs("crops", exist_ok=True)
rec = []
for i in range(640):
    kind = KINDS[rng.integers(5)]
    name = f"crops/{i:05d}.png"
    draw(kind).save(name)
    rec.append({"file": name, "marking": kind, "drive": int(i // 40)})
json.dump(rec, open("markings.json", "w"))
