import os
import numpy as np

rng = np.random.default_rng(35)
os.makedirs("recordings", exist_ok=True)
for s in range(24):
    gain, offset = rng.uniform(0.2, 6), rng.uniform(-300, 300)
    lab = rng.integers(0, 3, 70)
    t = np.arange(40)
    sig = []
    for c in lab:
        env = [np.exp(-((t - 12) / 5) ** 2), np.exp(-((t - 26) / 5) ** 2), 0.6 * np.exp(-((t - 12) / 5) ** 2) + 0.6 * np.exp(-((t - 26) / 5) ** 2)][c]
        e = np.stack([env, 0.5 * env + 0.3 * np.roll(env, 4)], 0) * rng.uniform(0.7, 1.3)
        sig.append(e + rng.normal(0, 0.25, e.shape))
    np.savez_compressed(f"recordings/rec{s:02d}.npz", emg=(np.array(sig) * gain + offset).astype(np.float32), gesture=lab)
