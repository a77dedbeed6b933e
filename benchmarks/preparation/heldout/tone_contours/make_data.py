import numpy as np

rng = np.random.default_rng(20)
SR, N = 8000, 2400
TONES = ["level", "rising", "dipping", "falling"]
wav, tone, spk = [], [], []
for s in range(24):
    base = rng.uniform(110, 240)
    for k in range(24):
        t = TONES[rng.integers(4)]
        u = np.linspace(0, 1, N)
        r = rng.uniform(0.25, 0.45)
        if t == "level":
            c = np.full(N, 0.5 * r) + rng.uniform(-0.03, 0.03) * u
        elif t == "rising":
            c = r * u
        elif t == "falling":
            c = r * (1 - u)
        else:
            m = rng.uniform(0.4, 0.6)
            c = r * np.abs(u - m) / max(m, 1 - m)
        f = base * (1 + c) * (1 + 0.01 * rng.normal())
        ph = 2 * np.pi * np.cumsum(f) / SR
        x = sum(np.sin(h * ph + rng.uniform(0, 6)) / h for h in range(1, 6))
        x *= np.sin(np.pi * u) ** 0.5 * rng.uniform(0.3, 0.8) / 2
        x += rng.normal(0, 0.03, N)
        wav.append((x.clip(-1, 1) * 32767).astype(np.int16))
        tone.append(t)
        spk.append(s)
np.savez_compressed("syllables.npz", wav=np.stack(wav), tone=np.array(tone), speaker=np.array(spk), rate=SR)
