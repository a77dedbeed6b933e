import numpy as np

rng = np.random.default_rng(6)
cols = ["flow", "turb_in", "turb_out", "cond_in", "cond_out", "ph", "dose"]


def rows(n):
    flow = rng.normal(50, 8, n)
    ti = rng.gamma(6, 1.5, n)
    to = ti * 0.5 + rng.gamma(5, 0.8, n)
    ci = rng.normal(6, 1.2, n)
    co = rng.normal(5.6, 1.2, n)
    ph = rng.normal(7.2, 0.3, n)
    dose = 8 + 0.9 * ti - 1.1 * to + 1.3 * ci - 1.0 * co + 0.06 * (flow - 50) * 2 - 2 * (ph - 7.2) + rng.normal(0, 0.5, n)
    return dict(flow=flow, turb_in=ti, turb_out=to, cond_in=ci, cond_out=co, ph=ph, dose=dose)


for name, n, order in (("jan_to_sep.csv", 2400, cols),
                       ("oct_to_dec.csv", 700, ["flow", "ph", "turb_out", "turb_in", "cond_out", "cond_in", "dose"])):
    d = rows(n)
    np.savetxt(name, np.column_stack([d[c] for c in order]), delimiter=",", fmt="%.3f",
               header=",".join(order), comments="")
