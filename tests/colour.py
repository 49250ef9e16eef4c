"""Distances of colours, also as seen by the colour-blind.

CIEDE2000 (Sharma, Wu and Dalal 2005) between sRGB colours, after the matrices of Machado, Oliveira
and Fernandes (2009) for people who lack one of the three cones.
"""

from collections.abc import Iterator

import numpy as np

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def distance(first: str, second: str) -> float:
    """Return the smallest CIEDE2000 distance of two colours "#rrggbb" over all visions."""
    return min(ciede2000(one, two) for one, two in zip(seen(first), seen(second), strict=True))


def seen(colour: str) -> Iterator[np.ndarray]:
    """Yield CIELAB of a colour in each vision."""
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    for vision in VISIONS.values():
        yield lab(np.clip(vision @ linear, 0, 1))


def lab(linear: np.ndarray) -> np.ndarray:
    """Return CIELAB of linear RGB."""
    t = TO_XYZ @ linear / TO_XYZ.sum(axis=1)
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def ciede2000(first: np.ndarray, second: np.ndarray) -> float:
    """Return the CIEDE2000 distance of two CIELAB colours."""
    (L1, a1, b1), (L2, a2, b2) = first, second
    g = (1 - _high(np.hypot(a1, b1) / 2 + np.hypot(a2, b2) / 2)) / 2
    C1, C2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1, h2 = np.arctan2(b1, (1 + g) * a1), np.arctan2(b2, (1 + g) * a2)
    turn = (h2 - h1 + np.pi) % (2 * np.pi) - np.pi if C1 * C2 > 0 else 0.0
    L, C = (L1 + L2) / 2, (C1 + C2) / 2
    h = np.degrees(h1 + turn / 2 if C1 * C2 > 0 else h1 + h2) % 360
    cosines = (-0.17, 1, 30), (0.24, 2, 0), (0.32, 3, -6), (-0.20, 4, 63)
    T = 1 + sum(size * np.cos(np.radians(times * h - at)) for size, times, at in cosines)
    lightness = (L2 - L1) / (1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2))
    chroma = (C2 - C1) / (1 + 0.045 * C)
    hue = 2 * np.sqrt(C1 * C2) * np.sin(turn / 2) / (1 + 0.015 * C * T)
    rotation = -2 * _high(C) * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    return float(np.sqrt(lightness**2 + chroma**2 + hue**2 + rotation * chroma * hue))


def _high(chroma: float) -> float:
    return float(np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
