import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(17)
names = ["keep_left", "keep_right", "straight_on", "no_entry"]


def draw(k):
    im = Image.new("L", (32, 32), int(rng.integers(30, 90)))
    d = ImageDraw.Draw(im)
    ox, oy = rng.integers(-3, 4, 2)
    ink = int(rng.integers(170, 250))
    if k == 3:
        d.rectangle([7 + ox, 13 + oy, 25 + ox, 19 + oy], fill=ink)
    else:
        pts = np.array([[16, 5], [9, 14], [14, 14], [14, 27], [18, 27], [18, 14], [23, 14]], float) - 16
        ang = {0: -1, 1: 1, 2: 0}[k] * np.pi / 2 + rng.normal(0, .12)
        c, s = np.cos(ang), np.sin(ang)
        pts = pts @ np.array([[c, s], [-s, c]]) + 16 + [ox, oy]
        d.polygon([tuple(p) for p in pts], fill=ink)
    a = np.asarray(im, float) + rng.normal(0, 20, (32, 32))
    return a.clip(0, 255).astype("uint8")


def part(n):
    y = rng.integers(0, 4, n)
    return np.stack([draw(int(k)) for k in y]), y


xt, yt = part(800)
xe, ye = part(400)
np.savez_compressed("arrows.npz", x_train=xt, y_train=yt, x_test=xe, y_test=ye, names=np.array(names))
