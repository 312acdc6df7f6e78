"""Tables as text: rounding, marks, escaping, spreadsheets, and no NaN anywhere."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tpbench_score.render import FORMATS, to_csv, to_json, to_latex, to_markdown, with_counts
from tpbench_score.render.comma import safe_text
from tpbench_score.render.latex import escape as latex_escape
from tpbench_score.render.numbers import decimal
from tpbench_score.render.terminal import print_tables
from tpbench_score.tables import Cell, Column, Counts, Number, Row, SeedValue, TableResult, Unavailable

COUNTS = Counts(planned=40, total=385, parsed=30, abstained=4, errors=3, missing=2, turns_kept=0.3, words_kept=0.25)


def sample(label: str = "Recency", text: str = "", **number: object) -> TableResult:
    entry = replace(Number(1 / 3, sd=0.0166666, per_seed=(SeedValue(42, 1 / 3, 3),)), **number)  # type: ignore[arg-type]
    return TableResult(
        24,
        "P2-strict by turn budget",
        (Column("sgd.r030", "r = 0.30", "SGD", ("strict",), show_sd=True),),
        (
            Row("full_context", "Full context", (Cell((Number(0.69),)),), reference=True),
            Row("recency", label, (Cell((entry,), text),)),
        ),
        facts=(("reader", "r"), ("protocol", "paper")),
        notes=("A note.",),
        signature="s:1|x:2",
    )


# --- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.4813333, "rate", "0.481"),
        (1, "rate", "1.000"),
        (-0.0001, "rate", "0.000"),
        (-38.14, "points", "-38.1"),
        (0.04, "points", "0.0"),
        (-0.04, "points", "0.0"),
        (128.0, "count", "128"),
        (2.384185791015625e-07, "p", "2.38×10^-7"),
        (1.88079096131566e-37, "p", "1.88×10^-37"),
        (9.999e-05, "p", "1.00×10^-4"),
        (0.146, "p", "1.46×10^-1"),
        (1.0, "p", "1.00×10^0"),
        (0.0, "p", "<1×10^-300"),
        (-0.3424, "correlation", "-0.34"),
        (1.5, "rank", "1.5"),
        (7.0, "rank", "7"),
    ],
)
def test_every_kind_has_its_own_form(value: float, kind: str, text: str) -> None:
    assert decimal(value, kind) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused_by_every_format(value: float) -> None:
    for form in FORMATS.values():
        with pytest.raises(ValueError, match=r"holds|nan|inf"):
            form.render([sample(value=value)])


def test_an_absent_number_is_a_dash_an_empty_field_or_null() -> None:
    made = sample(value=None, sd=None, why="not run")
    assert "| Recency | – |" in to_markdown([made])
    assert "Recency & -- \\\\" in to_latex([made])
    assert list(csv.reader(io.StringIO(to_csv([made]))))[2][4] == ""
    number = json.loads(to_json([made]))["tables"][0]["rows"][1]["cells"][0]["numbers"][0]
    assert (number["value"], number["why"]) == (None, "not run")


def test_a_pair_without_numbers_is_one_dash() -> None:
    made = sample()
    made = replace(made, rows=(replace(made.rows[1], cells=(Cell((Number(None), Number(None))),)),))
    assert "| Recency | – |" in to_markdown([made])


# --- marks --------------------------------------------------------------------------------------------------------


def test_markdown_marks_best_and_reference() -> None:
    text = to_markdown([sample(best=True)])
    assert "| *Full context* | *0.690* |" in text
    assert "| Recency | **0.333 ± 0.017** |" in text
    assert text.startswith("**Table 24. P2-strict by turn budget** (reader r, protocol paper)\n")
    assert text.endswith("- A note.\n- Signature: `s:1|x:2`\n")


def test_latex_marks_best_and_reference() -> None:
    text = to_latex([sample(best=True)])
    assert r"\textit{Full context} & \textit{0.690} \\" in text
    assert r"Recency & \textbf{0.333 $\pm$ 0.017} \\" in text
    assert "% Signature: s:1|x:2\n" in text


def test_in_a_pair_only_the_best_number_is_bold() -> None:
    made = sample()
    pair = Cell((Number(0.5), Number(0.9, best=True)))
    made = replace(made, rows=(replace(made.rows[1], cells=(pair,)),))
    assert "| 0.500 / **0.900** |" in to_markdown([made])
    assert r"0.500 / \textbf{0.900}" in to_latex([made])


def test_latex_sets_a_p_value_in_mathematics() -> None:
    assert r"$2.38" not in to_latex([sample(value=2.384e-7, kind="p", sd=None)])
    assert r"2.38$\times 10^{-7}$" in to_latex([sample(value=2.384e-7, kind="p", sd=None)])


def test_an_interval_follows_its_number() -> None:
    assert "0.333 ± 0.017 [0.250, 0.417]" in to_markdown([sample(interval=(0.25, 0.4166))])


def test_n_of_n_stands_in_the_cell() -> None:
    assert "0.333 ± 0.017 (38 of 385)" in to_markdown([sample(counts=COUNTS)])
    header, _, line = csv.reader(io.StringIO(to_csv([sample(counts=COUNTS)])))
    assert dict(zip(header, line, strict=True))["SGD r = 0.30 answered"] == "38"
    assert dict(zip(header, line, strict=True))["SGD r = 0.30 of"] == "385"


# --- hostile text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_text_is_never_a_formula(label: str) -> None:
    line = list(csv.reader(io.StringIO(to_csv([sample(label)]), newline="")))[2]
    assert line[3] == "'" + label


def test_csv_numbers_keep_their_sign() -> None:
    assert list(csv.reader(io.StringIO(to_csv([sample(value=-12.34, kind="points", sd=None)]))))[2][4] == "-12.3"


@given(st.text())
def test_csv_gives_any_label_back(label: str) -> None:
    label = label.replace("\x00", "")
    text = to_csv([sample(label)])
    line = list(csv.reader(io.StringIO(text, newline="")))[2]
    assert line[3] == safe_text(label)
    assert not line[3].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_markdown_text_cannot_leave_its_cell() -> None:
    text = to_markdown([sample("a|b*c_d`e\n|x|", text="p|q")])
    (line,) = [x for x in text.splitlines() if "0.333" in x]
    assert line == r"| a\|b\*c\_d\`e \|x\| | 0.333 ± 0.017 p\|q |"


def test_latex_text_is_escaped() -> None:
    assert latex_escape("50% & $x_1$ #2 {a} \\b ~^") == (
        r"50\% \& \$x\_1\$ \#2 \{a\} \textbackslash{}b \textasciitilde{}\textasciicircum{}"
    )
    assert r"my\_method" in to_latex([sample("my_method")])


def test_a_comment_in_latex_stays_on_its_line() -> None:
    made = replace(sample(), notes=("one\n\\evil",))
    assert "% one \\evil\n" in to_latex([made])


# --- whole output -------------------------------------------------------------------------------------------------


def test_a_table_that_is_not_available_is_one_line() -> None:
    absent = Unavailable(8, "Matched comparison", "outputs in role first_user_recent")
    assert to_markdown([absent]) == (
        "Table 8 (Matched comparison): not available, needs outputs in role first\\_user\\_recent.\n"
    )
    assert "% Table 8 (Matched comparison): not available" in to_latex([absent])
    assert json.loads(to_json([absent]))["tables"][0]["available"] is False
    assert to_csv([absent]) == ""


def test_json_holds_the_unrounded_number_and_its_seeds() -> None:
    number = json.loads(to_json([sample()]))["tables"][0]["rows"][1]["cells"][0]["numbers"][0]
    assert number["value"] == 1 / 3
    assert number["per_seed"] == [{"n": 3, "seed": 42, "value": 1 / 3}]


def test_counts_stand_beside_their_column() -> None:
    made = with_counts(sample(counts=COUNTS))
    assert [c.heading for c in made.columns] == [
        "SGD r = 0.30",
        "n",
        "parsed",
        "abst.",
        "err.",
        "miss.",
        "turns",
        "words",
    ]
    assert "| 40 | 0.750 | 4 | 3 | 2 |" in to_markdown([made])
    header = to_csv([made]).splitlines()[0].split(",")
    assert len(set(header)) == len(header)
    assert with_counts(sample()) == sample()


def test_a_terminal_shows_marks_and_takes_no_label_for_markup() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system="standard")
    print_tables([sample("[red]x", best=True), Unavailable(8, "T", "[b]y")], console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]x" in shown
    assert "[b]y" in shown
    assert "\x1b[1m0.333 ± 0.017" in shown
    assert "\x1b[3m0.690" in shown
