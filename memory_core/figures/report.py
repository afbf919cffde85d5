"""One HTML file with words, tables and live pictures that needs no network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.figures.chart import Chart


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it: text, safe HTML (a table made here), pictures."""

    title: str
    text: str = ""
    table: str = ""
    charts: tuple[Chart, ...] = ()


def report(title: str, sections: Sequence[Section]) -> str:
    """The page. Pictures are live (hover, PNG by their menu); the library is in the file, once."""
    body, library = "", True
    for section in sections:
        body += f"<section><h2>{html.escape(section.title)}</h2>"
        body += "".join(f"<p>{html.escape(line)}</p>" for line in section.text.split("\n") if line)
        body += section.table
        for chart in section.charts:
            picture = chart.figure.to_html(full_html=False, include_plotlyjs=library, config={"displaylogo": False})
            body += f'<figure role="img" aria-label="{html.escape(chart.alt)}">{picture}</figure>'
            body += f"<figcaption>{html.escape(chart.alt)}</figcaption>"
            library = False
        body += "</section>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1>{body}</body></html>"
    )


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2129; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } p { margin: .3rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #dfe2e7; }
.name { text-align: left; } tr.overall td { border-top: 2px solid #888; }
figure { margin: 1rem 0 .2rem; } figcaption { color: #5f6673; font-size: .82rem; } .warning { color: #b03a22; }
"""
