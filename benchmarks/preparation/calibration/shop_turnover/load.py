import sqlite3

import pandas as pd


def load_table(path="shops.db"):
    con = sqlite3.connect(path)
    receipts = pd.read_sql("SELECT * FROM receipts", con)
    shops = pd.read_sql("SELECT * FROM shops", con)
    con.close()

    shops["shop"] = shops["shop_no"].astype(str)
    df = receipts.merge(shops.drop(columns="shop_no"), on="shop", how="left")

    df["floor_m2"] = df["floor_m2"].fillna(0)
    df["competitors"] = df["competitors"].fillna(0)
    df["kind"] = df["kind"].fillna("other")
    df = pd.concat([df, pd.get_dummies(df.pop("kind"), prefix="kind", dtype=float)], axis=1)
    df["weekend"] = (df["weekday"] >= 5).astype(float)
    return df


FEATURES = ["floor_m2", "competitors", "promo", "rain_mm", "weekend"]


def feature_columns(df):
    return FEATURES + sorted(c for c in df.columns if c.startswith("kind_"))
