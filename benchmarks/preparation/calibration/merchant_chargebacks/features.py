import polars as pl

NUMERIC = ["log_value", "night", "account_years"]
RATE = "merchant_rate"


def merchant_rates(payments: pl.DataFrame, prior: float, weight: float) -> pl.DataFrame:
    """Chargeback rate for each merchant, drawn towards the overall rate."""
    return payments.group_by("merchant").agg(
        ((pl.col("chargeback").sum() + prior * weight) / (pl.len() + weight)).alias(RATE)
    )


def build_table(cfg: dict) -> pl.DataFrame:
    payments = pl.read_csv(cfg["data"])
    prior = payments.filter(pl.col("year") == cfg["history_year"])["chargeback"].mean()
    rates = merchant_rates(payments, prior, cfg["prior_weight"])
    table = payments.filter(pl.col("year") == cfg["model_year"])
    return table.join(rates, on="merchant", how="left", maintain_order="left").with_columns(pl.col(RATE).fill_null(prior))


def split(table: pl.DataFrame, share: float, seed: int):
    table = table.sample(fraction=1.0, shuffle=True, seed=seed)
    k = int(share * table.height)
    return table.head(k), table.tail(table.height - k)
