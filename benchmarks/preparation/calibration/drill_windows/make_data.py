import numpy as np

rng = np.random.default_rng(17)
fs, chunks, marks = 100, [], []
t = 0
for bout in range(96):
    state = int(rng.integers(0, 4))
    n = int(rng.integers(380, 620))
    k = np.arange(n) / fs
    f0 = rng.uniform(6, 22)
    ph = rng.uniform(0, 6.28, 3)
    amp = rng.uniform(0.5, 1.5, 3)
    off = rng.normal(0, 0.5, 3)
    sig = np.stack([off[a] + amp[a] * np.sin(2 * np.pi * f0 * (a + 1) * k * 0.7 + ph[a]) for a in range(3)], 1)
    wear = [0.0, 0.25, 0.5, 0.75][state]
    hits = (rng.random(n) < 0.01 + 0.25 * wear).astype(float)
    sig[:, 2] += np.convolve(hits, 2.6 * np.exp(-np.arange(12) / 3), mode="same")
    sig += rng.normal(0, 0.45, sig.shape)
    chunks.append(sig)
    marks.append(np.full(n, state))
acc = np.concatenate(chunks).astype(np.float32)
np.savez_compressed("drill_rig.npz", acc=acc, wear_state=np.concatenate(marks).astype(np.int8), fs=fs)
