import numpy as np

rng = np.random.default_rng(88)
D = 16
finds = ["effusion", "edema", "cardiomegaly", "atelectasis", "pneumonia"]
W = rng.normal(0, 0.9, (D, 5))
b = np.array([-0.5, -0.7, -0.4, -0.3, -0.8])


def rows(n, path, reader):
    x = rng.normal(0, 1, (n, D))
    truth = (rng.random((n, 5)) < 1 / (1 + np.exp(-(1.6 * (x @ W) / np.sqrt(D) * 2 + b)))).astype(int)
    site = rng.integers(0, 4, n)
    with open(path, "w") as f:
        f.write("study,site," + ",".join(f"q{i:02d}" for i in range(D)) + "," + ",".join(finds) + "\n")
        for i in range(n):
            lab = []
            for k in range(5):
                v = truth[i, k]
                if reader == "report":
                    u = rng.random()
                    keep = 0.18 if (site[i] + k) % 4 in (0, 1) else 0.6
                    lab.append("" if u > keep + 0.12 else "-1" if u > keep else str(v))
                else:
                    lab.append(str(v))
            f.write(f"CX{int(rng.integers(10**6, 10**7))},{'ABCD'[site[i]]}," + ",".join(f"{v:.3f}" for v in x[i]) + "," + ",".join(lab) + "\n")


rows(2600, "studies_reports.csv", "report")
rows(700, "studies_panel.csv", "panel")
