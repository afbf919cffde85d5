"""One colour and one shape for each label, the same in graph, map, legend, table, histogram and export.

The nine colours were found by maximising the smallest OKLab distance of any pair, seen with normal vision and with
protan, deutan and tritan vision simulated after Machado, Oliveira and Fernandes (2009); `tests/figures` holds the
floor. Shape carries the label a second time. Each fill has an outline for light and one for dark pages that stands out
from the page by at least 3:1 (WCAG 2.2, 1.4.11).
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from memory_core.schema import LABELS


@dataclass(frozen=True)
class Mark:
    """How a label is drawn. `path` is an SVG path about the origin, of nearly the area of a circle of radius 1."""

    label: str
    color: str
    on_light: str
    on_dark: str
    shape: str  # vis-network's name
    symbol: str  # plotly's name
    path: str

    def as_data(self) -> dict[str, str]:
        """The mark as JSON for the browser."""
        return {
            "label": self.label,
            "color": self.color,
            "onLight": self.on_light,
            "onDark": self.on_dark,
            "path": self.path,
        }


_CIRCLE = "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z"
_OVAL = "M1.35 0A1.35.76 0 1 1-1.35 0A1.35.76 0 1 1 1.35 0Z"
_SQUARE = "M-.9-.9H.9V.9H-.9Z"
_DOWN = "M-1.3-.78H1.3L0 1.36Z"
_UP = "M-1.3.78H1.3L0-1.36Z"
_STAR = "M0-1.45.4-.5 1.38-.45.62.18.86 1.17 0 .62-.86 1.17-.62.18-1.38-.45-.4-.5Z"
_HEXAGON = "M1.14 0 .57.99H-.57L-1.14 0-.57-.99H.57Z"
_DIAMOND = "M0-1.3 1.2 0 0 1.3-1.2 0Z"
_PLUS = "M-.46-1.2H.46V-.46H1.2V.46H.46V1.2H-.46V.46H-1.2V-.46H-.46Z"

#: Label -> mark, in the order of schema.LABELS.
MARKS: Mapping[str, Mark] = MappingProxyType(
    {
        mark.label: mark
        for mark in (
            Mark("Person", "#0c8feb", "#0869ad", "#56b4f6", "dot", "circle", _CIRCLE),
            Mark("Organization", "#7643b1", "#553080", "#b08ce0", "square", "square", _SQUARE),
            Mark("Location", "#65cf9c", "#2f8a5f", "#9be5c2", "triangleDown", "triangle-down", _DOWN),
            Mark("Event", "#faa015", "#a86700", "#ffc873", "star", "star", _STAR),
            Mark("Concept", "#c1b0ff", "#7d66d9", "#ddd3ff", "ellipse", "circle-cross", _OVAL),
            Mark("Artifact", "#0e5e61", "#083f41", "#47a9ad", "hexagon", "hexagon", _HEXAGON),
            Mark("Preference", "#d85e9b", "#a63570", "#f09cc5", "diamond", "diamond", _DIAMOND),
            Mark("Goal", "#9c2707", "#6e1a03", "#e07355", "triangle", "triangle-up", _UP),
            Mark("Skill", "#85830b", "#5c5a05", "#c2bf3d", "box", "cross", _PLUS),
        )
    }
)
#: Anything that carries no label of the nine (an import under way, a picture of foreign data).
OTHER = Mark("Other", "#8a8f98", "#5f646d", "#b6bbc4", "dot", "circle", _CIRCLE)

#: The one accent: selection, focus, the cut line.
ACCENT = "#e0563b"
#: Continuous scores, low to high: orange over grey to blue, told apart with every colour vision, seen on either page.
SCORES: tuple[str, ...] = ("#f0960a", "#d99b55", "#a9a29b", "#7d93b8", "#4f80c6", "#1f6fd0")
#: What a plan does with a node: kept, forgotten, pinned.
FATES: Mapping[str, str] = MappingProxyType({"kept": "#7f8ea3", "forgotten": "#f0960a", "pinned": "#1f6fd0"})


def mark(label: str) -> Mark:
    """The mark of a label; OTHER when it is none of the nine.

    >>> mark("Person").shape, mark("Animal").label
    ('dot', 'Other')
    """
    return MARKS.get(label, OTHER)


def svg(label: str, size: int = 14, dark: bool = False) -> str:
    """The mark as an inline SVG picture of `size` pixels; its alternative text is the label."""
    drawn = mark(label)
    outline = drawn.on_dark if dark else drawn.on_light
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="-1.6 -1.6 3.2 3.2" '
        f'role="img" aria-label="{html.escape(drawn.label)}"><path d="{drawn.path}" fill="{drawn.color}" '
        f'stroke="{outline}" stroke-width=".25" stroke-linejoin="round"/></svg>'
    )


def image(label: str, size: int = 18, dark: bool = False) -> str:
    """The mark as a data address, for a table's picture column."""
    return "data:image/svg+xml," + quote(svg(label, size, dark))


def data() -> list[dict[str, str]]:
    """Every mark as JSON for the browser, in the order of schema.LABELS, the unlabelled one last."""
    return [MARKS[label].as_data() for label in LABELS] + [OTHER.as_data()]
