import numpy as np
import torch

GLYPHS = [
    ["#####", "#...#", "#...#", "#...#", "#####"],
    ["..#..", "..#..", "#####", "..#..", "..#.."],
    ["#...#", ".#.#.", "..#..", ".#.#.", "#...#"],
    ["#....", "#....", "#....", "#....", "#####"],
    ["#####", "..#..", "..#..", "..#..", "..#.."],
    ["..#..", ".#.#.", "#...#", ".#.#.", "..#.."],
]


def render(kind, rng, size=12, noise=0.25):
    canvas = rng.normal(0, noise, (size, size)).astype("float32")
    r, c = rng.integers(0, size - 5, 2)
    g = np.array([[ch == "#" for ch in row] for row in GLYPHS[kind]], dtype="float32")
    canvas[r:r + 5, c:c + 5] += g * rng.uniform(0.8, 1.2)
    return canvas


def make_split(per_class, rng):
    images, labels = [], []
    for kind in range(len(GLYPHS)):
        for _ in range(per_class):
            images.append(render(kind, rng))
            labels.append(kind)
    x = torch.from_numpy(np.stack(images)).unsqueeze(1)
    return x, torch.tensor(labels)
