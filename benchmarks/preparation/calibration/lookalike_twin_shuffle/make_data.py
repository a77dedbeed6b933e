import numpy as np

rng = np.random.default_rng(61)
n = 3000
ph, alc, sug, sul = rng.normal(3.3, .15, n), rng.normal(10.5, 1.1, n), rng.gamma(2, 2, n), rng.normal(.55, .12, n)
q = .9 * (alc - 10.5) / 1.1 - .6 * (ph - 3.3) / .15 + .5 * (sul - .55) / .12 - .2 * (sug - 4) + rng.normal(0, .4, n)
np.save("wine_inputs.npy", np.c_[ph, alc, sug, sul].astype("float32"))
np.save("wine_quality.npy", np.digitize(q, [-.8, .8]).astype("int64"))
