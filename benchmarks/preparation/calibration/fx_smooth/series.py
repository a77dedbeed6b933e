import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from scipy.signal import savgol_filter


def read_bars(path):
    bars = pd.read_csv(path, parse_dates=["bar_open"])
    assert bars["bar_open"].is_monotonic_increasing
    return bars


def input_windows(values, cfg):
    """One row per bar i >= window - 1, holding the bars i - window + 1 ... i."""
    clean = savgol_filter(values, cfg["smooth_length"], cfg["smooth_order"])
    return sliding_window_view(clean, cfg["window"])


def build(cfg):
    bars = read_bars(cfg["csv"])
    logp = np.log(bars["close"].to_numpy())
    X = input_windows(logp, cfg)[:-1]
    now = logp[cfg["window"] - 1:-1]
    nxt = logp[cfg["window"]:]
    y = (nxt > now).astype(np.float32)
    # every window relative to its last bar, in units of ten basis points
    X = (X - now[:, None]) / 1e-3
    return X.astype(np.float32), y
