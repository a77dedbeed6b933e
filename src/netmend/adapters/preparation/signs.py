"""What a picture, a recording or a spectrum shows at a glance, in a few dozen numbers: brightness, contrast, fine detail, layout, bands."""

from __future__ import annotations

from typing import Any

import numpy as np

_SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_MOST_ORDERED = 4096
_GRID = 4
_BANDS = 32
_PARTS = 8


def of_picture(pixels: Any) -> Any:
    """Of height × width (× channels)."""
    pixels = np.asarray(pixels, dtype=np.float32)
    grey = pixels.mean(2) if pixels.ndim == 3 else pixels
    some = np.sort(grey.ravel()[:: max(1, grey.size // _MOST_ORDERED)])
    found = [
        grey.mean(),
        grey.std(),
        grey.min(),
        grey.max(),
        *some[[int(share * (len(some) - 1)) for share in _SHARES]],
    ]
    for steps in (grey[1:] - grey[:-1], grey[:, 1:] - grey[:, :-1]):
        np.abs(steps, out=steps)
        found += [steps.mean(), steps.max(), steps.std()] if steps.size else [0.0] * 3
    if min(grey.shape) > 2:  # single bright or dark dots
        dots = grey[:-2, 1:-1] + grey[2:, 1:-1]
        dots += grey[1:-1, :-2]
        dots += grey[1:-1, 2:]
        dots *= -0.25
        dots += grey[1:-1, 1:-1]
        found += [dots.min(), dots.max(), dots.std()]
    for rows in np.array_split(grey, _GRID, axis=0):
        for part in np.array_split(rows, _GRID, axis=1):
            found += [part.mean(), part.std()] if part.size else [0.0, 0.0]
    for channel in range(min(3, pixels.shape[2]) if pixels.ndim == 3 else 0):
        found += [pixels[..., channel].mean(), pixels[..., channel].std()]
    return np.array(found, dtype=np.float64)


def of_sound(samples: Any) -> Any:
    """Of one row of numbers over time: energy in bands, and loudness in parts."""
    samples = np.asarray(samples, dtype=np.float64)
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    bands = [
        np.log10(part.mean() + 1e-9) if len(part) else -9.0 for part in np.array_split(power[1:], _BANDS)
    ]
    parts = [
        np.log10((part**2).mean() + 1e-9) if len(part) else -9.0 for part in np.array_split(samples, _PARTS)
    ]
    return np.array([*bands, *parts])


def of_input(row: Any) -> Any:
    """Of what a network was shown of one sample; None where it has no form that is known."""
    row = np.asarray(row)
    if row.ndim == 1 and len(row) >= 4 * _BANDS:
        return of_sound(row)
    if row.ndim == 3:
        row = row.transpose(1, 2, 0) if row.shape[0] <= 4 else row
        row = row if row.shape[2] <= 4 else row.reshape(row.shape[0], -1)
    if row.ndim not in (2, 3) or min(row.shape[:2]) < 1 or row.shape[0] * row.shape[1] < 16:
        return None
    if row.shape[0] == 1 and row.ndim == 2:
        return of_sound(row[0]) if row.shape[1] >= 4 * _BANDS else None
    grey = row.mean(2) if row.ndim == 3 else row
    lines = [
        part.mean()
        for axis in (0, 1)
        for part in np.array_split(grey, min(_BANDS, grey.shape[axis]), axis=axis)
    ]
    return np.array([*of_picture(row), *lines, *([0.0] * (2 * _BANDS - len(lines)))])
