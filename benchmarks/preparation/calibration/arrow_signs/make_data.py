import csv
import os
import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(61)
kinds = ["keep_left", "keep_right", "straight_on", "turn_left", "turn_right"]
os.makedirs("signs", exist_ok=True)
rows = []
for n in range(900):
    k = int(rng.integers(0, 5))
    S = 128
    im = Image.new("RGB", (S, S), tuple(int(v) for v in rng.integers(60, 200, 3)))
    d = ImageDraw.Draw(im)
    d.ellipse([14, 14, 114, 114], fill=(20, 60, int(rng.integers(130, 200))), outline="white", width=5)
    if k == 2:
        pts, head = [(64, 100), (64, 45)], [(64, 26), (46, 52), (82, 52)]
    elif k in (3, 4):
        pts, head = [(82, 98), (82, 58), (52, 58)], [(28, 58), (54, 40), (54, 76)]
    else:
        pts, head = [(92, 36), (52, 76)], [(34, 94), (38, 62), (66, 90)]
    if k in (1, 4):
        pts, head = [(128 - a, b) for a, b in pts], [(128 - a, b) for a, b in head]
    d.line(pts, fill="white", width=13, joint="curve")
    d.polygon(head, fill="white")
    im = im.rotate(float(rng.normal(0, 6)), fillcolor=(110, 110, 110))
    sh = rng.integers(-8, 9, 2)
    im = im.crop((sh[0], sh[1], S + sh[0], S + sh[1])).resize((28, 28), Image.BILINEAR)
    a = np.asarray(im, float) * rng.uniform(0.45, 1.1) + rng.normal(0, 18, (28, 28, 3))
    name = f"{n:05d}.jpg"
    Image.fromarray(np.clip(a, 0, 255).astype(np.uint8)).save("signs/" + name, quality=88)
    rows.append([name, kinds[k], "train" if n < 660 else "test"])
with open("signs/index.csv", "w", newline="") as f:
    csv.writer(f).writerows([["file", "sign", "part"]] + rows)
