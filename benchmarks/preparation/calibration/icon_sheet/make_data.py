import json
import math
import os
import random

from PIL import Image, ImageDraw

random.seed(9)
os.makedirs("icons", exist_ok=True)
KINDS = ["arrow", "bars", "cross", "ring", "tag"]


def shape(d, kind, cx, cy, r, w, ink):
    if kind == "arrow":
        d.line([cx - r, cy, cx + r, cy], fill=ink, width=w)
        d.line([cx, cy - r, cx + r, cy], fill=ink, width=w)
        d.line([cx, cy + r, cx + r, cy], fill=ink, width=w)
    elif kind == "bars":
        for k in (-1, 0, 1):
            d.line([cx - r, cy + k * r * 0.7, cx + r, cy + k * r * 0.7], fill=ink, width=w)
    elif kind == "cross":
        d.line([cx - r, cy - r, cx + r, cy + r], fill=ink, width=w)
        d.line([cx - r, cy + r, cx + r, cy - r], fill=ink, width=w)
    elif kind == "ring":
        d.ellipse([cx - r, cy - r, cx + r, cy + r], outline=ink, width=w)
    else:
        d.polygon([(cx - r, cy - r), (cx + r, cy - r), (cx + r, cy + r * 0.3), (cx, cy + r), (cx - r, cy + r * 0.3)], outline=ink, width=w)


index = []
for i in range(600):
    kind = KINDS[i % 5]
    s = 40
    clear = random.random() < 0.75
    mode, bg, ink = ("RGBA", (0, 0, 0, 0), (0, 0, 0, 255)) if clear else ("L", 255, 0)
    im = Image.new(mode, (s * 2, s * 2), bg)
    d = ImageDraw.Draw(im)
    shape(d, kind, s + random.uniform(-12, 12), s + random.uniform(-12, 12), random.uniform(14, 26), random.randint(3, 7), ink)
    im = im.rotate(random.uniform(-20, 20), fillcolor=bg).resize((s, s), Image.BILINEAR)
    name = f"icon_{i:04d}.png"
    im.save(os.path.join("icons", name))
    index.append({"file": name, "kind": kind})
random.shuffle(index)
json.dump({"train": index[:440], "test": index[440:]}, open("icons.json", "w"), indent=0)
