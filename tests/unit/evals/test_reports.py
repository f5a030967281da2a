"""Pictures of evaluations, and the folder of a report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from second_brain.evals.baseline import read_evaluations
from second_brain.evals.pictures import kind, latency_picture, stages_picture
from second_brain.evals.report import write_report
from second_brain.evals.results import Evaluation, Provenance
from second_brain.evals.sizes import Cost

SVG = "{http://www.w3.org/2000/svg}"
SYSTEMS = {"grep": 0.4, "bm25s": 0.3, "lexical": 0.6, "dense": 0.65, "fused": 0.7, "adjusted": 0.75, "hybrid": 0.75}
EVALUATION = Evaluation(
    name="a <small> set",
    documents=3,
    chunks=4,
    primary="nDCG@5",
    values={name: {"nDCG@5": {"q0": value, "q1": value}} for name, value in SYSTEMS.items()},
    groups={"q0": ("plain",), "q1": ("hard",)},
    provenance=Provenance("0.1.0", "", "d" * 32, "hashing/1", "1", "s" * 32, {}, "Linux"),
    costs={name: Cost(2, 3.0 + place // 2, 20.0, 900.0, 3_000.0) for place, name in enumerate(SYSTEMS)},
)


def texts(picture: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in picture.iter(f"{SVG}text")]


def test_bars_show_every_system_in_order_with_its_value() -> None:
    """A well-formed picture; a bar is as long as its value, and coloured by what the system is."""
    picture = ElementTree.fromstring(stages_picture([EVALUATION]))
    written = texts(picture)
    assert [text for text in written if text in SYSTEMS] == list(SYSTEMS)
    assert [text for text in written if re.fullmatch(r"0\.\d{3}", text)] == [f"{v:.3f}" for v in SYSTEMS.values()]
    assert "a <small> set" in written
    bars = [bar for bar in picture.iter(f"{SVG}rect") if bar.get("height") == "14"]
    widths = [float(bar.get("width", "0")) for bar in bars]
    assert widths[0] / widths[-1] == pytest.approx(0.4 / 0.75, abs=0.01)
    assert [bar.get("class") for bar in bars] == ["other", "other", "arm", "arm", "stage", "stage", "mode"]


def test_picture_is_legible_in_the_dark() -> None:
    """It brings its own paper, and other colours where the reader's system is dark."""
    picture = stages_picture([EVALUATION])
    assert "@media (prefers-color-scheme: dark)" in picture
    assert '<rect class="paper"' in picture


def test_points_that_are_the_same_are_named_together() -> None:
    """Stages that are one search share a point; labels do not lie on each other."""
    picture = ElementTree.fromstring(latency_picture([EVALUATION, EVALUATION]))
    same = replace(EVALUATION, costs={name: Cost(2, 3.0, 4.0, 5.0, 6.0) for name in SYSTEMS})
    together = ElementTree.fromstring(latency_picture([same]))
    assert "adjusted, hybrid" in texts(together)
    panels = list(picture.iter(f"{SVG}g"))
    assert len(panels) == 2
    labels = [text for text in panels[0].iter(f"{SVG}text") if (text.text or "").split(",")[0] in SYSTEMS]
    places = [(text.get("x"), text.get("y")) for text in labels]
    assert len(set(places)) == len(places) >= 5


def test_system_far_below_the_others_does_not_flatten_them() -> None:
    """It stands at the lower edge, and says how much it reached."""
    values = {"grep": 0.1, "lexical": 0.95, "dense": 0.96, "hybrid": 0.98}
    one = replace(
        EVALUATION,
        values={name: {"nDCG@5": {"q0": value, "q1": value}} for name, value in values.items()},
        costs={name: Cost(2, 2.0 * 4**place, 9.0, 9.0, 9.0) for place, name in enumerate(values)},
    )
    picture = ElementTree.fromstring(latency_picture([one]))
    assert "grep 0.100 \u2193" in texts(picture)
    assert "0.95" in texts(picture)
    assert "0.50" not in texts(picture)


def test_colours_tell_what_a_system_is() -> None:
    """Modes, the stages before them, the arms, and what others have."""
    assert [kind(name) for name in ("hybrid", "agentic", "late", "dense", "grep", "trigram+dense")] == [
        "mode", "mode", "stage", "arm", "other", "other",
    ]  # fmt: skip


def test_report_is_a_page_with_numbers_and_pictures(tmp_path: Path) -> None:
    """The page shows the pictures that lie beside it; the numbers can be compared later."""
    better = replace(EVALUATION, values={**EVALUATION.values, "hybrid": {"nDCG@5": {"q0": 1.0, "q1": 1.0}}})
    files = write_report(tmp_path / "report", [better], None, [(EVALUATION, better)])
    assert {file.name for file in files} == {"report.md", "report.json", "stages.svg", "quality-latency.svg"}
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)]+)\)", page)
    assert linked == ["stages.svg", "quality-latency.svg"]
    assert all((tmp_path / "report" / name).is_file() for name in linked)
    assert "since the baseline" in page
    assert read_evaluations(tmp_path / "report" / "report.json") == [better]
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    told = {(change["system"], change["measure"]): change for change in written["changes"]["a <small> set"]}
    assert told["hybrid", "nDCG@5"]["difference"]["mean"] == 0.25


def test_report_without_times_has_one_picture(tmp_path: Path) -> None:
    """Nothing is drawn that was not measured."""
    files = write_report(tmp_path, [replace(EVALUATION, costs={})])
    assert {file.name for file in files} == {"report.md", "report.json", "stages.svg"}
    assert "quality-latency" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_picture_of_no_questions_is_still_one() -> None:
    """A half of a small set may be empty."""
    none = replace(EVALUATION, values={name: {"nDCG@5": {}} for name in SYSTEMS}, groups={})
    assert "0.000" in texts(ElementTree.fromstring(stages_picture([none])))
    ElementTree.fromstring(latency_picture([none]))
