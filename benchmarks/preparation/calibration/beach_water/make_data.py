import numpy as np

rng = np.random.default_rng(8)


def season(path, n):
    with open(path, "w") as f:
        f.write("ecoli_mpn\tturbidity_ntu\train_mm\twater_temp\tclosed_next_day\n")
        for _ in range(n):
            rain = rng.exponential(4) if rng.random() < .45 else 0.0
            ec = np.exp(4.6 + .05 * rain + rng.normal(0, 2.6))
            turb = np.exp(1.0 + .05 * rain + rng.normal(0, .8))
            temp = rng.normal(19, 3)
            z = 1.4 * (np.log(ec) - 5.6) + .3 * (np.log(turb) - 1.2) + rng.normal(0, .6)
            txt = ">1011" if ec > 1011 else ("<10" if ec < 10 else f"{ec:.0f}")
            f.write(f"{txt}\t{turb:.1f}\t{rain:.1f}\t{temp:.1f}\t{int(z > 0)}\n")


season("season_2021.tsv", 2200)
season("season_2022.tsv", 800)
