"""The palette holds for every eye and on either page."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_core.figures import palette
from memory_core.schema import LABELS

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
PAGES = {"on_light": "#ffffff", "on_dark": "#0e1117"}


def linear(color: str) -> NDArray[np.float64]:
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    lms = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.21190350, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.62997870],
    ]
    lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.97799850, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return np.array(lab) @ np.cbrt(np.array(lms) @ rgb)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (one, other)), reverse=True)
    return light / dark


@pytest.mark.parametrize("eye", VISION)
def test_any_two_labels_are_told_apart_by_colour(eye: str) -> None:
    seen = {m.label: oklab(np.clip(np.array(VISION[eye]) @ linear(m.color), 0, 1)) for m in palette.MARKS.values()}
    nearest = min(np.linalg.norm(seen[a] - seen[b]) for a, b in combinations(LABELS, 2))
    assert nearest > 0.11


@pytest.mark.parametrize("page", PAGES)
def test_every_outline_stands_out_from_the_page(page: str) -> None:
    for mark in [*palette.MARKS.values(), palette.OTHER]:
        assert contrast(getattr(mark, page), PAGES[page]) >= 3, mark.label


def test_each_label_has_its_own_colour_and_shape() -> None:
    assert tuple(palette.MARKS) == LABELS
    for field in ("color", "shape", "symbol", "path"):
        assert len({getattr(mark, field) for mark in palette.MARKS.values()}) == 9, field


def test_marks_are_the_same_in_svg_table_and_browser() -> None:
    for entry in palette.data()[:9]:
        drawn = palette.svg(entry["label"])
        assert entry["color"] in drawn
        assert entry["path"] in drawn
        assert palette.image(entry["label"]).startswith("data:image/svg+xml,%3Csvg")
    assert palette.data()[9]["label"] == "Other"


def test_scores_read_from_orange_to_blue_for_every_eye() -> None:
    for matrix in VISION.values():
        blue_yellow = [float(oklab(np.clip(np.array(matrix) @ linear(c), 0, 1))[2]) for c in palette.SCORES]
        if matrix is not VISION["tritan"]:
            assert blue_yellow == sorted(blue_yellow, reverse=True)
    lightness = [float(oklab(linear(c))[0]) for c in palette.SCORES]
    assert lightness == sorted(lightness, reverse=True)
