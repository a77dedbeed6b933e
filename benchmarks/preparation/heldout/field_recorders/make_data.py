import json
import os
import wave

import numpy as np

rng = np.random.default_rng(77)
SR = 16000
SPECIES = {"cricket": 3600, "frog": 1800, "owl": 900, "toad": 1270}


def call(name):
    n = int(SR * 0.25)
    t = np.arange(n) / SR
    f = SPECIES[name] * rng.uniform(0.92, 1.08)
    env = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(10, 25) * t + rng.uniform(0, 6))
    x = np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) + 0.25 * np.sin(4 * np.pi * f * t)
    return 0.35 * env * x


def save(path, chans):
    data = np.stack(chans, 1)
    data = (np.clip(data, -1, 1) * 32767).astype("<i2")
    with wave.open(path, "wb") as w:
        w.setnchannels(data.shape[1])
        w.setsampwidth(2)
        w.setframerate(SR)
        w.writeframes(data.tobytes())


os.makedirs("clips", exist_ok=True)
index = []
names = sorted(SPECIES)
for i in range(420):
    site = "marsh" if i < 170 else ("orchard" if i < 290 else "quarry")
    sp = names[rng.integers(4)]
    x = call(sp)
    noise = lambda: rng.normal(0, 0.12, len(x))
    if site == "marsh" or (site == "orchard" and rng.random() < 0.85):
        chans = [x + noise()]
    else:
        g = rng.uniform(0.7, 1.0)
        chans = [x + noise(), g * x + noise()]
    path = f"clips/{site}_{i:03d}.wav"
    save(path, chans)
    index.append({"file": path, "site": site, "species": sp})
json.dump(index, open("index.json", "w"), indent=0)
