import json
import numpy as np

rng = np.random.default_rng(90)
sig, who, info = [], [], {}
for s in range(40):
    fall = int(s % 2)
    f0 = rng.uniform(1.4, 2.2)
    ph = rng.uniform(0, 6.28, 3)
    amp = rng.uniform(0.5, 1.6, 3)
    harm = rng.uniform(0.1, 0.9, 3) + 0.55 * fall
    info[f"subject_{s:02d}"] = {"faller": bool(fall), "age": int(rng.integers(60, 90))}
    for k in range(45):
        t = np.arange(50) / 25 + rng.uniform(0, 0.1)
        w = amp * np.sin(2 * np.pi * f0 * t[:, None] + ph) + harm * np.sin(4 * np.pi * f0 * t[:, None] + 2 * ph)
        sig.append(w + rng.normal(0, 0.3, w.shape))
        who.append(f"subject_{s:02d}")
np.savez_compressed("gait.npz", windows=np.array(sig, dtype=np.float16), subject=np.array(who))
json.dump(info, open("subjects.json", "w"), indent=0)
