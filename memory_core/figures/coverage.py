"""The picture that explains the policy coverage."""

from __future__ import annotations

from urllib.parse import quote

from memory_core.figures.chart import ink

_NODES = (
    # x, title, words it keeps, when it goes
    (90, "Rye bread", ("rye", "bread"), "goes 1st: all it says is said elsewhere"),
    (300, "Harbor Bakery", ("rye", "bread", "harbor"), "goes 2nd, and then “bread” is lost"),
    (510, "Mira", ("zermatt", "violin"), "stays longest: rare words, nobody else keeps them"),
)


def coverage_drawing(dark: bool = False) -> str:
    """Three nodes and the words they keep, as an HTML picture."""
    shade = ink(dark)
    size = 'width="600" height="168" viewBox="0 0 600 168"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">']
    for place, (x, title, words, fate) in enumerate(_NODES):
        color = (shade.accent, "#f0960a", "#1f6fd0")[place]
        parts.append(f'<circle cx="{x}" cy="34" r="13" fill="{color}"/>{_text(x, 14, title, shade.text, 13)}')
        for k, word in enumerate(words):
            at = x + 66 * (k - (len(words) - 1) / 2)
            shared = sum(word in other[2] for other in _NODES) > 1
            dash = 'stroke-dasharray="3 3"' if shared else 'stroke-width="2"'
            parts.append(f'<path d="M{x} 47L{at} 92" stroke="{shade.quiet}" {dash}/>')
            parts.append(
                f'<rect x="{at - 30}" y="92" width="60" height="22" rx="4" fill="none" stroke="{shade.quiet}" {dash}/>'
            )
            parts.append(_text(at, 107, word, shade.text, 12))
        first, _, rest = fate.partition(":") if ":" in fate else fate.partition(",")
        parts.append(_text(x, 138, first, shade.text, 12) + _text(x, 155, rest.strip(), shade.quiet, 10.5))
    picture = "data:image/svg+xml," + quote("".join(parts) + "</svg>")
    return f'<img alt="{_ALT}" src="{picture}" style="width:100%;max-width:600px">'


def _text(x: float, y: float, words: str, color: str, size: float) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" font-size="{size}" fill="{color}">{words}</text>'


_ALT = "Three nodes and the words they keep: the node whose words another node keeps goes first."
