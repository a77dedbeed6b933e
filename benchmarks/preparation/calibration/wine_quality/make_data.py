import numpy as np
import pandas as pd

rng = np.random.default_rng(88)
n = 420
X = rng.normal(size=(n, 11))
w = rng.normal(size=11) * 0.4
z = X @ w + 0.5 * X[:, 0] * X[:, 1] + rng.normal(0, .7, n)
q = pd.cut(z, [-99, -0.9, 0.9, 99], labels=["low", "medium", "high"])
cols = ["fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free SO2", "total SO2", "density", "pH", "sulphates", "alcohol"]
df = pd.DataFrame((X * rng.uniform(.1, 5, 11) + rng.uniform(5, 20, 11)).round(3), columns=cols)
df["quality"] = q.astype(str)
df.to_csv("wine.csv", sep=";", index=False)
