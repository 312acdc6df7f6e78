"""``tpbench-score report`` as a user types it, and the pieces of the page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import HARM, hostile_case, report, rich_case, rich_page  # noqa: F401
from simple_reader import write_simple_run
from small_release import output_rows, probe_row, run_row, write_small_release, write_small_run

from tpbench_data.release.reader import Release
from tpbench_data.run_folder import read_run
from tpbench_score.flips import find_flips
from tpbench_score.report import build_report
from tpbench_score.report.markup import Markup, escape, json_block, tag
from tpbench_score.report.mix import Mixed, leads
from tpbench_score.report.sample import candidates
from tpbench_score.report.svg import spread
from tpbench_score.tables import FIGURES, TABLES

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)


class Page(HTMLParser):
    """Elements of a page: tables by caption, texts of data blocks by id, all attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.blocks: dict[str, str] = {}
        self._open: list[str] = []
        self._caption = ""
        self._block = ""
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.elements.append((name, known))
        if name in ("meta", "input", "br", "link"):
            return
        self._open.append(name)
        if name == "caption":
            self._caption = ""
        elif name == "tr" and "tbody" in self._open:
            self.tables[self._caption].append([])
        elif name in ("td", "th") and "tbody" in self._open:
            self.tables[self._caption][-1].append("")
        elif name == "script":
            self._block = known.get("id") or ""

    def handle_endtag(self, name: str) -> None:
        assert self._open.pop() == name
        if name == "caption":
            self.tables[self._caption] = []

    def handle_data(self, text: str) -> None:
        self.words.append(text)
        if "caption" in self._open:
            self._caption += text
        elif {"td", "th"} & set(self._open) and "tbody" in self._open:
            self.tables[self._caption][-1][-1] += text
        elif self._open and self._open[-1] == "script":
            self.blocks[self._block] = text


def page(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))


def failure(*arguments: object) -> str:
    result = run_command("tpbench-score", "report", *arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    return str(result.stderr)


# --- markup --------------------------------------------------------------------------------------------------


@given(ANY_TEXT)
def test_any_text_is_text_again_and_never_an_element(text: str) -> None:
    made = tag("p", text, title=text)
    assert made.encode("utf-8").count(b"<") == 2
    found = Page(made)
    shown = html.unescape(escape(text))
    assert "".join(found.words) == shown
    assert found.elements == [("p", {"title": shown})]
    changed = [c for c, seen in zip(text, shown, strict=True) if c != seen]
    assert all(not c.isprintable() for c in changed)


@given(
    st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner))
)
def test_a_data_block_holds_any_text_and_cannot_be_left(value: Any) -> None:
    block = json_block("x", value)
    body = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set(body) & set("<>&\u2028\u2029")
    assert json.loads(body) == value


def test_markup_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "<"), "&", [Markup("<i>"), None]) == "<p><b>&lt;</b>&amp;<i></p>"
    assert tag("input", disabled=True, checked=False, value=None, data_x=1) == '<input disabled data-x="1">'


# --- figures -------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-50, 150), max_size=12))
def test_labels_keep_their_order_their_distance_and_their_room(wanted: list[float]) -> None:
    places = spread(wanted, 10, 0, 100)
    gap = min(10, 100 / max(1, len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    for a, b in pairwise([places[i] for i in order]):
        assert b - a > gap - 1e-6
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)


def test_labels_that_have_room_stay_where_they_are() -> None:
    assert spread([90, 10, 50], 10, 0, 100) == [90, 10, 50]


MEANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


@given(MEANS, st.floats(0.001, 0.999))
def test_the_leader_at_a_weight_is_the_best_there(means: list[tuple[int, int]], weight: float) -> None:
    methods = [Mixed(str(i), f"m{i}", first / 9, second / 9) for i, (first, second) in enumerate(means)]
    found = leads(methods)
    assert (found[0].low, found[-1].high) == (0, 1)
    assert all(a.high == b.low and a.methods != b.methods for a, b in pairwise(found))
    here = next(lead for lead in found if lead.low <= weight <= lead.high)
    best = max(method.at(weight) for method in methods)
    assert all(abs(method.at(weight) - best) < 1e-9 for method in here.methods)


def test_the_leaders_change_at_the_published_weight() -> None:
    # Scoring spec 4.7: 0.3369 from unrounded means with d1 = 0.302 and d2 = 0.153 rounded.
    found = leads([Mixed("a", "Earliest turns", 0.702, 0.1), Mixed("b", "Embedding MMR", 0.4, 0.253)])
    assert [lead.labels for lead in found] == ["Embedding MMR", "Earliest turns"]
    assert found[0].high == pytest.approx(0.153 / (0.153 + 0.302))


# --- the sample of answers -----------------------------------------------------------------------------------


def test_dialogues_come_whole_and_those_with_flips_first() -> None:
    dialogues = [("sgd", "a"), ("sgd", "b"), ("sgd", "a"), ("multiwoz", "a"), ("sgd", "c")]
    order = list(candidates(dialogues, [False, False, False, False, True]))
    assert order[0] == (("sgd", "c"), [4])
    assert dict(order)["sgd", "a"] == [0, 2]
    assert [d for d, _ in candidates(dialogues[:4], [False] * 4)] == [d for d, _ in order[1:]]


# --- the command ---------------------------------------------------------------------------------------------


def test_the_page_names_every_table_and_figure(rich_page: Path) -> None:
    text = "".join(page(rich_page).words)
    for name in [f"Table {n}." for n in TABLES] + [f"Figure {n}." for n in FIGURES]:
        assert name in text


def test_tables_hold_the_numbers_of_the_command_tables(
    rich_case: tuple[Path, Path],
    rich_page: Path,
) -> None:
    release, run = rich_case
    result = run_command("tpbench-score", "tables", release, "--outputs", run, "--ci", "--format", "md")
    assert result.returncode == 0, result.stderr
    printed = {}
    for block in re.split(r"^\*\*", result.stdout, flags=re.MULTILINE)[1:]:
        title, _, rest = block.partition("**")
        facts, _, body = rest.partition("\n")
        rows = [line.strip("| ").split(" | ") for line in body.splitlines() if line.startswith("|")][2:]
        clean = [[re.sub(r"[\\*]", "", cell).strip() for cell in row] for row in rows]
        printed[f"{title}{facts}".replace("\\", "").strip()] = clean
    shown = page(rich_page).tables
    assert len(printed) > 15
    for caption, rows in printed.items():
        # In a cell of two numbers the page puts both intervals below.
        one_line = [[re.sub(r"[\[\]]", "", cell) for cell in row] for row in shown[caption]]
        for got, wanted in zip(one_line, rows, strict=True):
            for cell, expected in zip(got, wanted, strict=True):
                assert sorted(re.findall(r"[^\s/]+", cell)) == sorted(re.findall(r"[^\s/\[\]]+", expected)), caption


def test_the_summary_says_what_the_tables_say(rich_case: tuple[Path, Path], rich_page: Path) -> None:
    release, run = rich_case
    result = run_command(
        "tpbench-score", "tables", release, "--outputs", run, "--ci", "--format", "json", "--table", 3, "--figure", 2
    )
    table, ranks, correlation, _ = json.loads(result.stdout)["tables"]
    tables = page(rich_page).tables
    summary = next(rows for caption, rows in tables.items() if caption.startswith("Best compressed method per probe"))
    assert [row[0] for row in summary] == ["TPBench-en", "P1 initial goal", "P2 current value", "P3 both together"]
    for place, row in zip((0, 1, 3), summary[1:], strict=True):
        best = [r for r in table["rows"] if r["cells"][place]["numbers"][0]["best"]]
        number = best[0]["cells"][place]["numbers"][0]
        full = table["rows"][0]["cells"][place]["numbers"][0]["value"]
        assert row[1] == " = ".join(r["label"] for r in best)
        assert row[2].startswith(f"{number['value']:.3f}")
        assert f"[{number['interval'][0]:.3f}, {number['interval'][1]:.3f}]" in row[2]
        assert row[4].startswith(f"{100 * (full - number['value']):.1f}".replace("-0.0", "0.0"))
    agreement = next(rows for caption, rows in tables.items() if caption.startswith("Rank correlation"))
    value = correlation["rows"][0]["cells"][0]["numbers"][0]["value"]
    assert agreement[0][:3] == ["TPBench-en", f"{value:.2f}", str(len(ranks["rows"]))]


def test_the_gap_of_p3_is_the_one_beside_table_25(rich_page: Path) -> None:
    tables = page(rich_page).tables
    summary = next(rows for caption, rows in tables.items() if caption.startswith("Best compressed method per probe"))
    gaps = next(rows for caption, rows in tables.items() if "full context minus each selector" in caption)
    best = summary[3][1].split(" = ")[0]
    assert summary[3][4] == next(row[2] for row in gaps if row[0] == best)


def test_flips_are_those_of_the_command_flips(rich_case: tuple[Path, Path], rich_page: Path) -> None:
    found = find_flips(Release.open(rich_case[0]), [rich_case[1]])
    tables = page(rich_page).tables
    counts = tables["Answers right under paper-1 and tpbench-1"]
    assert len(counts) == len(found.changes)
    for row, change in zip(counts, found.changes, strict=True):
        wanted = [change.answers]
        for measure in ("strict", "loose"):
            wanted += [*change.right[measure], change.gained[measure], change.lost[measure]]
        assert [int(cell.replace(",", "")) for cell in row[1:]] == wanted
    assert len(tables["Answers that paper-1 and tpbench-1 judge differently"]) == len(found.rows) > 0


def test_the_same_bytes_whatever_order_locale_zone_and_hash_seed(
    rich_case: tuple[Path, Path],
    rich_page: Path,
    tmp_path: Path,
) -> None:
    release, run = rich_case
    rows = [row for probe in Release.open(release).probes for row in Release.open(release).table(probe).to_pylist()]
    texts = {row["input_id"]: row["text"] for row in read_run(run).outputs.to_pylist()}
    shuffled = write_small_run(
        tmp_path / "shuffled",
        rows[::-1],
        {},
        "simple-00000000",
        outputs=output_rows("simple-00000000", rows[1::2] + rows[::2], texts),
        reader="simple",
        release_digest=Release.open(release).digest,
    )
    other = {"LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1"}
    again = report(release, "--outputs", shuffled, tmp_path / "again.html", env=os.environ | other)
    assert again.read_bytes() == rich_page.read_bytes()


def test_no_clock_no_path_no_address_in_the_page(rich_case: tuple[Path, Path], rich_page: Path) -> None:
    text = rich_page.read_text(encoding="utf-8")
    assert str(rich_case[0].parent) not in text
    found = Page(text)
    for name, attributes in found.elements:
        assert name not in ("link", "iframe", "img", "object", "embed", "base")
        assert not {"src", "srcdoc", "action", "formaction", "style", "ping"} & set(attributes)
        assert not any(key.startswith("on") for key in attributes)
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]


def test_the_policy_stands_first_and_allows_only_our_own_scripts(rich_page: Path) -> None:
    text = rich_page.read_text(encoding="utf-8")
    names = [name for name, _ in Page(text).elements]
    policy = next(a["content"] for _, a in Page(text).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert names.index("style") > names.index("meta")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    bodies = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL)
    assert len(bodies) == 4
    for body in bodies:
        assert base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() in policy


def test_every_table_has_a_caption_and_every_head_a_scope(rich_page: Path) -> None:
    text = rich_page.read_text(encoding="utf-8")
    found = Page(text)
    names = [name for name, _ in found.elements]
    assert names.count("table") == names.count("caption") > 20
    assert len(found.tables) == names.count("table")  # all captions differ
    assert all("scope" in attributes for name, attributes in found.elements if name == "th")
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [str(a["href"])[1:] for name, a in found.elements if name == "a"]
    assert set(targets) <= set(ids)
    assert all(attributes.get("aria-label") for name, attributes in found.elements if attributes.get("role") == "img")


def test_headings_do_not_skip_a_level(rich_page: Path) -> None:
    levels = [int(name[1]) for name, _ in page(rich_page).elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_report_imports_no_model_library(rich_case: tuple[Path, Path], tmp_path: Path) -> None:
    release, run = rich_case
    code = (
        "import sys; from tpbench_score.cli import main\n"
        f"sys.argv = ['x', 'report', {str(release)!r}, '--outputs', {str(run)!r}]\n"
        f"sys.argv += ['--out', {str(tmp_path / 'r.html')!r}]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "bad = {'torch', 'transformers', 'datasets', 'jinja2', 'requests', 'huggingface_hub'} & set(sys.modules)\n"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_nothing_is_overwritten(rich_case: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("mine", encoding="utf-8")
    assert "already exists" in failure(rich_case[0], "--outputs", rich_case[1], "--out", out)
    assert out.read_text(encoding="utf-8") == "mine"


def test_bad_input_is_one_line(rich_case: tuple[Path, Path], tmp_path: Path) -> None:
    release, run = rich_case
    out = tmp_path / "report.html"
    assert "no such folder" in failure(tmp_path / "nowhere", "--out", out)
    assert "no outputs of reader 'x'" in failure(release, "--outputs", run, "--reader", "x", "--out", out)
    assert not out.exists()


def test_help_has_an_example() -> None:
    result = run_command("tpbench-score", "report", "--help")
    assert result.returncode == 0
    assert "Example:" in result.stdout


# --- single answers ------------------------------------------------------------------------------------------


def items(file: Path) -> dict[str, Any]:
    found = json.loads(page(file).blocks["items-data"])
    assert isinstance(found, dict)
    return found


def test_every_answer_is_there_with_its_text_and_turns(
    rich_case: tuple[Path, Path],
    rich_page: Path,
) -> None:
    data = items(rich_page)
    outputs = read_run(rich_case[1]).outputs.to_pylist()
    assert sorted(o["text"] for o in data["outputs"]) == sorted(o["text"] for o in outputs)
    assert f"{len(outputs):,} of {len(outputs):,} answers are on this page" in "".join(page(rich_page).words)
    release = Release.open(rich_case[0])
    frozen = {row["input_id"]: row for probe in release.probes for row in release.table(probe).to_pylist()}
    kept = sorted(row["kept_turns"] for row in frozen.values())
    assert sorted(o["kept"] for o in data["outputs"]) == kept
    assert not any("context" in o for o in data["outputs"])  # the kept turns spell every context
    asked = [place for question in data["questions"] for place in question["answers"]]
    assert sorted(asked) == list(range(len(outputs)))


def test_the_limit_leaves_out_whole_dialogues_and_says_so(
    rich_case: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    release, run = rich_case
    some = report(release, "--outputs", run, "--items", 100, tmp_path / "some.html")
    data = items(some)
    assert 0 < len(data["outputs"]) <= 100
    opened = Release.open(release)
    tables = [opened.table(probe) for probe in opened.probes]
    total = sum(table.num_rows for table in tables)
    asked = {(corpus, name) for table in tables for corpus, name in zip(
        table["corpus"].to_pylist(), table["dialogue_id"].to_pylist(), strict=True)}  # fmt: skip
    words = "".join(page(some).words)
    assert (
        f"{len(data['outputs'])} of {total:,} answers are on this page, from {len(data['dialogues'])} of {len(asked)}"
        in words
    )
    assert "SHA-256" in words
    none = report(release, "--outputs", run, "--items", 0, tmp_path / "none.html")
    assert "items-data" not in page(none).blocks
    assert f"0 of {total:,} answers" in "".join(page(none).words)


def small_case(place: Path, texts: dict[str, Any], **changes: Any) -> tuple[Path, Path]:
    """A release with one P2 input per method of ``texts`` (method -> answer, exception or ``None`` for missing)."""
    rows = [probe_row("current_value", method=method, method_config=method, **changes) for method in texts]
    write_small_release(place / "release", {"current_value": rows})
    answers = {row["input_id"]: texts[row["method"]] for row in rows if texts[row["method"]] is not None}
    return place / "release", write_small_run(place / "run", rows, answers)


def test_errors_and_missing_answers_are_shown_and_counted(tmp_path: Path) -> None:
    texts = {"full_context": '{"value": "12 pm"}', "recency": RuntimeError("out of memory"), "random": None}
    release, run = small_case(tmp_path, texts)
    assert "have no output" in failure(release, "--outputs", run, "--out", tmp_path / "x.html")
    made = report(release, "--outputs", run, "--allow-missing", tmp_path / "x.html")
    words = "".join(page(made).words)
    assert "Reader errors: 1. Planned inputs without an answer: 1. They count as wrong" in words
    status = {o["status"]: o for o in items(made)["outputs"]}
    assert set(status) == {"ok", "error", "missing"}
    assert status["error"]["error"] == "out of memory"
    assert "text" not in status["missing"]


def test_a_context_that_kept_turns_do_not_spell_is_shown_itself(tmp_path: Path) -> None:
    release, run = small_case(
        tmp_path, {"rewriter": '{"value": "x"}'}, kept_turns=None, context="12 pm, said the user."
    )
    (output,) = items(report(release, "--outputs", run, tmp_path / "x.html"))["outputs"]
    assert output["context"] == "12 pm, said the user."
    assert "kept" not in output


def test_an_import_without_context_or_prompt_is_shown(tmp_path: Path) -> None:
    rows = [probe_row("current_value", context=None, kept_turns=None, prompt=None)]
    outputs = output_rows("tiny-00000000", rows, {rows[0]["input_id"]: '{"value": "12 pm"}'})
    write_small_release(tmp_path / "r", {"current_value": rows}, [run_row("tiny-00000000", 1)], outputs)
    (output,) = items(report(tmp_path / "r", tmp_path / "x.html"))["outputs"]
    assert output["unknown"] is True


def test_a_huge_answer_does_not_make_a_huge_page(tmp_path: Path) -> None:
    release, run = small_case(tmp_path, {"recency": "{" * 1_000_000, "random": '{"value": "' + "x" * 1_000_000 + '"}'})
    made = report(release, "--outputs", run, tmp_path / "x.html")
    assert made.stat().st_size < 300_000
    assert "more characters" in items(made)["outputs"][0]["text"]


def test_without_outputs_there_is_still_a_page(rich_case: tuple[Path, Path], tmp_path: Path) -> None:
    made = report(rich_case[0], tmp_path / "x.html")
    words = "".join(page(made).words)
    assert "Not available from these outputs" in words
    assert "0 of 0 answers are on this page" in words


def test_two_runs_of_two_readers_share_a_page(rich_case: tuple[Path, Path], tmp_path: Path) -> None:
    release, run = rich_case
    second = write_simple_run(
        Release.open(release), tmp_path / "other", "other-00000001", lambda row, probe, text: text.upper()
    )
    made = report(release, "--outputs", run, "--outputs", second, "--reader", "other", tmp_path / "x.html")
    assert len(items(made)["runs"]) == 2
    assert {q["run"] for q in items(made)["questions"]} == {1}
    both = report(release, "--outputs", run, "--outputs", second, tmp_path / "y.html")
    assert {q["run"] for q in items(both)["questions"]} == {0, 1}


def test_the_embedded_release_has_a_report(tmp_path: Path) -> None:
    text = "".join(page(report(tmp_path / "x.html")).words)
    assert "TPBench-en" in text
    assert "methods, equal" in text, "no reader of the release answers P3"


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    release, run = hostile_case(tmp_path)
    made = report(release, "--outputs", run, tmp_path / "x.html")
    names = [name for name, _ in page(made).elements]
    assert names.count("script") == 3 + 1 + (("mix-data") in page(made).blocks)
    assert not {"img", "b", "i", "u"} & set(names) - {"b"}
    assert HARM in items(made)["dialogues"][0]["turns"][0][1]


@settings(max_examples=15, deadline=None)
@given(st.lists(ANY_TEXT, min_size=2, max_size=2))
def test_any_answers_make_a_page(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    storable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    release, run = small_case(
        tmp_path_factory.mktemp("any"), dict(zip(("full_context", "recency"), storable, strict=True))
    )
    found = Page(build_report(Release.open(release), [run]))
    assert [o["text"] for o in json.loads(found.blocks["items-data"])["outputs"]] == storable
