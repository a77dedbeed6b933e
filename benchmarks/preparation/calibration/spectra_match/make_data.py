import numpy as np

rng = np.random.default_rng(23)
grid = np.linspace(0, 1, 96)
spec, label = [], []
for m in range(70):
    peaks = rng.uniform(0.05, 0.95, 5)
    heights = rng.uniform(0.3, 1.0, 5)
    for k in range(7):
        s = np.zeros(96)
        for p, h in zip(peaks + rng.normal(0, 0.022, 5), heights * np.exp(rng.normal(0, 0.55, 5))):
            s += h * np.exp(-((grid - p) / 0.03) ** 2)
        s += rng.uniform(0, 0.6) * grid + rng.normal(0, 0.12, 96)
        spec.append(s)
        label.append(f"mineral_{m:02d}")
o = rng.permutation(len(spec))
np.savez("spectra.npz", spectra=np.array(spec, np.float32)[o], name=np.array(label)[o], wavenumber=(200 + 1000 * grid).astype(np.float32))
