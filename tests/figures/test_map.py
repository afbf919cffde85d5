"""The map: communities apart, the same each time, fast at the paper's size, and bytes that read back."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace

import numpy as np
import pytest

from memory_core.errors import InputError
from memory_core.figures.layout import MapLayout, grown, map_layout
from memory_core.figures.map import NO_SCORE, MapPicture, by_fate, by_label, by_score, geometry, message
from tests.synthetic import large_memory


@pytest.fixture(scope="module")
def picture() -> MapPicture:
    labels, sources, targets = large_memory(600, 1000)
    ids = [f"n{i}" for i in range(600)]
    titles = ["two\nlines" if i == 5 else f"title {i}" for i in range(600)]
    return MapPicture("r7", ids, titles, labels, sources, targets, map_layout(600, sources, targets))


def test_the_same_input_gives_the_same_map_and_leaves_chance_alone(picture: MapPicture) -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    again = map_layout(600, picture.sources, picture.targets)
    assert random.random() == expected
    assert np.array_equal(again.xy, picture.layout.xy)
    assert np.isfinite(again.xy).all()


def test_two_cliques_become_two_discs_and_a_loose_node_lies_outside() -> None:
    clique = np.array([(a, b) for a in range(8) for b in range(a)])
    edges = np.vstack([clique, clique + 8, [[0, 8]]])
    made = map_layout(17, edges[:, 0], edges[:, 1])
    assert made.community.tolist() in ([0] * 8 + [1] * 8 + [-1], [1] * 8 + [0] * 8 + [-1])
    centres = made.xy[:8].mean(axis=0), made.xy[8:16].mean(axis=0)
    parts = slice(8), slice(8, 16)
    spread = max(np.linalg.norm(made.xy[part] - c, axis=1).max() for part, c in zip(parts, centres, strict=True))
    assert np.linalg.norm(centres[0] - centres[1]) > 1.5 * spread
    assert np.linalg.norm(made.xy[16]) > np.linalg.norm(made.xy[:16], axis=1).max()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_nodes_still_make_a_map(n: int) -> None:
    none = np.zeros(0, dtype=np.int64)
    assert map_layout(n, none, none).xy.shape == (n, 2)


def test_the_papers_size_is_laid_out_in_seconds() -> None:
    _, sources, targets = large_memory()
    start = time.process_time()
    made = map_layout(27_021, sources, targets)
    assert time.process_time() - start < 20
    cells = np.unique(np.floor(made.xy).astype(int), axis=0)
    assert len(cells) > 8_000, "nodes lie on each other"


def test_geometry_reads_back(picture: MapPicture) -> None:
    block = message({"key": "m"}, geometry(picture))
    length = int.from_bytes(block[:4], "little")
    assert (4 + length) % 4 == 0
    parts = json.loads(block[4 : 4 + length])["parts"]
    body = block[4 + length :]

    def read(name: str) -> bytes:
        at, size = parts[name]
        assert at % 4 == 0
        return body[at : at + size]

    assert np.array_equal(np.frombuffer(read("xy"), "<f4").reshape(-1, 2), picture.layout.xy)
    assert np.array_equal(np.frombuffer(read("edges"), "<u4").reshape(-1, 2)[:, 0], picture.sources)
    titles = read("titles").decode().split("\n")
    assert len(titles) == 600
    assert titles[5] == "two lines"


def test_a_recolouring_is_one_byte_a_node(picture: MapPicture) -> None:
    for colors in (by_label(picture), by_score(picture, np.linspace(0, 1, 600)), by_fate(picture, ["n1"])):
        assert colors.values.nbytes == 600


def test_scores_span_the_ramp_and_a_missing_one_is_grey(picture: MapPicture) -> None:
    scores = np.linspace(0.2, 0.6, 600)
    scores[3] = np.nan
    colors = by_score(picture, scores, cut=0.3)
    assert (colors.values[0], colors.values[-1], colors.values[3]) == (0, 254, NO_SCORE)
    assert (colors.legend["low"], colors.legend["high"], colors.legend["none"]) == (0.2, 0.6, 1)
    flat = by_score(picture, np.full(600, 0.5))
    assert set(flat.values.tolist()) == {0}


def test_fates_count_and_a_pin_keeps(picture: MapPicture) -> None:
    colors = by_fate(picture, ["n1", "n2", "n3"], pinned=["n3"])
    assert colors.values[:5].tolist() == [0, 1, 1, 2, 0]
    assert [entry["count"] for entry in colors.legend["entries"]] == [597, 2, 1]


def test_scores_of_another_revision_are_refused(picture: MapPicture) -> None:
    with pytest.raises(InputError, match="600 nodes but 3 scores"):
        by_score(picture, np.zeros(3))


def test_unknown_labels_are_counted_as_other() -> None:
    empty = np.zeros(0, dtype=np.int64)
    layout = MapLayout(np.zeros((2, 2), np.float32), np.full(2, -1, np.int32))
    foreign = MapPicture("r", ["a", "b"], ["A", "B"], np.array([0, -1], np.int8), empty, empty, layout)
    colors = by_label(foreign)
    assert colors.values.tolist() == [0, 9]
    assert colors.legend["entries"][9] == {"name": "Other", "color": "#8a8f98", "count": 1}


def test_a_map_that_grows_stays_where_it_is_and_new_nodes_lie_beside_their_neighbours() -> None:
    _, sources, targets = large_memory(600, 1000)
    made = map_layout(500, *(ends[(sources < 500) & (targets < 500)] for ends in (sources, targets)))
    more = grown(made, 600, sources, targets)
    assert (more.xy[:500] == made.xy).all()
    assert more.xy.shape == (600, 2)
    ends = [sorted(pair) for pair in zip(sources.tolist(), targets.tolist(), strict=True)]
    first = dict(reversed([(b, a) for a, b in ends if b >= 500 and a != b]))
    assert first
    for new, old in first.items():
        assert np.hypot(*(more.xy[new] - more.xy[old])) == pytest.approx(0.9, abs=1e-3)
        assert more.community[new] == more.community[old]
    loose = set(range(500, 600)) - set(first)
    assert all(more.community[node] == -1 and np.hypot(*more.xy[node]) > np.hypot(*made.xy.T).max() for node in loose)


def test_of_a_very_large_memory_a_part_is_drawn_which_says_so(
    picture: MapPicture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert picture.part is picture
    assert picture.words == "600 nodes, 1,000 edges"
    monkeypatch.setattr("memory_core.figures.map.DRAWN", 100)
    large = replace(picture)
    assert large.words == "100 of 600 nodes drawn: the best connected and a sample"
    part, drawn = large.part, large.drawn.tolist()
    assert len(drawn) == len(set(drawn)) == len(part.ids) == 100
    assert drawn == sorted(drawn)
    assert set(np.argsort(-picture.degree, kind="stable")[:50].tolist()) <= set(drawn)
    assert part.ids == [picture.ids[place] for place in drawn]
    assert part.degree.tolist() == picture.degree[drawn].tolist(), "edges of the whole memory"
    ends = {(part.ids[a], part.ids[b]) for a, b in zip(part.sources.tolist(), part.targets.tolist(), strict=True)}
    whole = {(picture.ids[a], picture.ids[b]) for a, b in zip(picture.sources, picture.targets, strict=True)}
    assert ends == {(a, b) for a, b in whole if a in part.ids and b in part.ids}
    assert replace(picture).part.ids == part.ids, "the same part each time"
