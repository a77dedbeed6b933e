"""Writes the working set: every leaf in several variants, as we have few leaves."""
import random
from pathlib import Path

from PIL import Image, ImageEnhance, ImageOps

VARIANTS = 4


def vary(im, rnd):
    im = im.rotate(rnd.choice([0, 0, 90, 180]))
    if rnd.random() < 0.5:
        im = ImageOps.mirror(im)
    im = ImageEnhance.Brightness(im).enhance(rnd.uniform(0.85, 1.15))
    return ImageEnhance.Contrast(im).enhance(rnd.uniform(0.9, 1.1))


def build(src="leaves", dst="work", seed=0):
    rnd = random.Random(seed)
    src, dst = Path(src), Path(dst)
    n = 0
    for f in sorted(src.rglob("*.png")):
        out = dst / f.parent.name
        out.mkdir(parents=True, exist_ok=True)
        im = Image.open(f).convert("RGB")
        im.save(out / f"{f.stem}_0.png")
        for v in range(1, VARIANTS):
            vary(im, rnd).save(out / f"{f.stem}_{v}.png")
        n += VARIANTS
    return n


if __name__ == "__main__":
    print("wrote", build(), "images")
