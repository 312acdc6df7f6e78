"""The report in headless Chromium: what a reader sees, what mouse and keyboard do, and what hostile text cannot do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import ENTER, RIGHT, SPACE, TAB, Browser, chromium
from report_cases import BREAKERS, HARM, hostile_case, report, rich_case, rich_page  # noqa: F401


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(shared: Browser) -> Iterator[Browser]:
    """The browser at its usual size, scripts on, and without messages of the test before."""
    shared.size(1280)
    shared.scheme("light")
    shared.console()
    yield shared
    shared.scripts(True)


def rows(browser: Browser, table: str, column: int = 0) -> list[str]:
    code = (
        "return Array.from(document.querySelector(arguments[0]).tBodies[0].rows, r => r.cells[arguments[1]].innerText)"
    )
    return list(browser.script(code, table, column))


# --- hostile text --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    release, run = hostile_case(place)
    return report(release, "--outputs", run, place / "report.html")


def test_hostile_text_never_runs_and_never_becomes_an_element(browser: Browser, hostile_page: Path) -> None:
    browser.open(hostile_page)
    title = browser.script("return document.title")
    assert BREAKERS[0] in title  # the name of the reader, as text
    buttons = browser.script("return document.querySelectorAll('#items-list th button').length")
    assert buttons == 3
    for place in range(buttons):
        browser.script("document.querySelectorAll('#items-list th button')[arguments[0]].click()", place)
        for answer in range(browser.script("return document.querySelectorAll('.picker input').length")):
            browser.script("document.querySelectorAll('.picker input')[arguments[0]].click()", answer)
            shown = browser.text("#items-detail")
            assert BREAKERS[0] in shown
            assert BREAKERS[1] in shown
    browser.script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert browser.script("return document.title") == title
    assert browser.script("return window.broken === undefined")
    assert (
        browser.script("return document.querySelectorAll('img, svg[onload], [onerror], [onmouseover], u').length") == 0
    )
    ours = browser.script("return Array.from(document.scripts, s => s.id || s.type || 'ours')")
    assert sorted(ours) == ["items-data", "mix-data", "ours", "ours", "ours"]
    assert browser.console() == []


def test_raw_answer_and_turns_are_shown_letter_by_letter(browser: Browser, hostile_page: Path) -> None:
    browser.open(hostile_page)
    data = json.loads(browser.script("return document.getElementById('items-data').textContent"))
    assert data["dialogues"][0]["turns"][0][1] == HARM
    question = next(q for q in data["questions"] if q["probe"] == "P2")
    wanted = data["outputs"][question["answers"][0]]["text"]
    place = data["questions"].index(question)
    browser.script("document.querySelectorAll('#items-list th button')[arguments[0]].click()", place)
    assert browser.script("return document.querySelector('#items-detail .raw:not(details .raw)').textContent") == wanted
    turns = browser.script("return Array.from(document.querySelectorAll('.turns .text'), t => t.textContent)")
    assert turns == [HARM] * 3


def test_the_policy_stops_the_network_and_foreign_scripts(browser: Browser, hostile_page: Path) -> None:
    browser.open(hostile_page)
    browser.script("""
        window.stopped = [];
        document.addEventListener("securitypolicyviolation", e => window.stopped.push(e.effectiveDirective));
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        const script = document.createElement("script");
        script.append("window.broken = 1");
        document.body.append(image, script);
        fetch("http://127.0.0.1:9/").catch(() => {});
        try { document.body.innerHTML = "<p>x</p>" } catch (e) { window.refused = e.name }
    """)
    assert browser.script("return window.broken === undefined")
    assert browser.script("return window.refused") == "TypeError"
    stopped = set(browser.script("return window.stopped"))
    assert {"img-src", "connect-src", "require-trusted-types-for"} <= stopped
    browser.console()


def test_the_page_loads_nothing(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    assert browser.script("return performance.getEntriesByType('resource').length") == 0
    assert browser.console() == []


# --- tables --------------------------------------------------------------------------------------------------

TABLE = "#table-3 table.sortable"
HEAD = f"{TABLE} th[data-column='2'] button"


def values(browser: Browser) -> list[float]:
    return [float(text.split()[0]) for text in rows(browser, TABLE, 2)]


def test_a_click_sorts_down_then_up_then_back(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    before = values(browser)
    sort = f"return document.querySelector(\"{TABLE} th[data-column='2']\").ariaSort"
    assert browser.script(sort) is None
    browser.click(HEAD)
    assert (values(browser), browser.script(sort)) == (sorted(before, reverse=True), "descending")
    browser.click(HEAD)
    assert (values(browser), browser.script(sort)) == (sorted(before), "ascending")
    browser.click(HEAD)
    assert (values(browser), browser.script(sort)) == (before, None)


def test_the_keyboard_sorts_and_only_one_column_is_sorted(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    names = rows(browser, TABLE)
    browser.script(f"document.querySelector(\"{TABLE} th[data-column='0'] button\").focus()")
    browser.press(ENTER)
    assert rows(browser, TABLE) == sorted(names)
    browser.press(TAB, SPACE)
    assert browser.script(f"return document.querySelectorAll('{TABLE} [aria-sort]').length") == 1
    outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_dash_stays_below_in_both_directions(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    table = "#table-6 table.sortable"
    for _ in range(2):
        browser.click(f"{table} th[data-column='3'] button")
        assert rows(browser, table, 3)[-1] == "–"


def test_without_scripts_the_tables_and_figures_are_there(browser: Browser, rich_page: Path) -> None:
    browser.scripts(False)
    browser.open(rich_page)
    browser.scripts(True)  # for the questions of this test; the page's own scripts did not run
    assert browser.script("return document.querySelectorAll('table.sortable').length") > 20
    assert browser.script("return document.querySelectorAll('thead button').length") == 0
    assert browser.script("return document.querySelectorAll('svg.panel').length") >= 4
    assert "needs JavaScript" in browser.script("return document.querySelector('noscript').textContent")
    for hidden in ("#mix-control", "#items-form", "#items-legend"):
        assert browser.script("return document.querySelector(arguments[0]).offsetHeight", hidden) == 0
    assert len(rows(browser, ".mix .order")) == 6


# --- weight slider -------------------------------------------------------------------------------------------


def test_the_slider_moves_with_the_keyboard_and_orders_the_methods(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    data = json.loads(browser.script("return document.getElementById('mix-data').textContent"))
    ((panel, methods),) = data.items()
    browser.script("document.getElementById('mix-weight').focus()")
    browser.press(*[RIGHT] * 20)
    assert browser.text("#mix-shown") == "0.70"

    def mixed(method: list[Any], weight: float) -> float:
        return float(weight * method[1] + (1 - weight) * method[2])

    wanted = sorted(methods, key=lambda method: (-mixed(method, 0.7), method[0]))
    assert rows(browser, f"#{panel} .order") == [method[0] for method in wanted]
    assert rows(browser, f"#{panel} .order", 1) == [f"{mixed(method, 0.7):.3f}" for method in wanted]
    cursor = browser.script("return document.querySelector('.cursor').getAttribute('x1')")
    ends = browser.script("const d = document.querySelector('.mix svg').dataset; return [d.x0, d.x1].map(Number)")
    assert float(cursor) == pytest.approx(ends[0] + 0.7 * (ends[1] - ends[0]))


# --- single answers ------------------------------------------------------------------------------------------


def test_a_question_opens_with_kept_dropped_and_update_turns(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    data = json.loads(browser.script("return document.getElementById('items-data').textContent"))
    place = next(i for i, q in enumerate(data["questions"]) if q["probe"] == "P2")
    question = data["questions"][place]
    assert place < 12
    browser.click(f"#items-list tbody tr:nth-child({place + 1}) th button")
    focused = browser.script("return document.activeElement.textContent")
    assert focused == browser.text("#items-detail h3")
    assert focused.startswith(f"P2 {question['slot']}")
    answers = [data["outputs"][i] for i in question["answers"]]
    recency = next(i for i, a in enumerate(answers) if data["methods"][a["method"]] == "Recency")
    browser.script("document.querySelectorAll('.picker input')[arguments[0]].click()", recency)
    turns = browser.script("return Array.from(document.querySelectorAll('.turns li'), t => t.className)")
    kept = {i for i, name in enumerate(turns) if "dropped" not in name}
    assert kept == set(answers[recency]["kept"])
    assert [i for i, name in enumerate(turns) if "update" in name] == [question["update"]]
    assert f"{len(kept)} of {len(turns)} turns kept" in browser.text("#items-detail")
    assert answers[recency]["text"] in browser.text("#items-detail")
    for scorer in data["scorers"]:
        assert f"Verdict of {scorer}" in browser.text("#items-detail")
    assert question["value"] in browser.script(
        "return Array.from(document.querySelectorAll('mark'), m => m.textContent)"
    )


def test_conditions_change_with_arrow_keys(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    browser.click("#items-list tbody tr:nth-child(1) th button")
    browser.script("document.querySelector('.picker input').focus()")
    browser.press(RIGHT)
    checked = browser.script("return document.querySelector('.picker :checked').parentElement.innerText.trim()")
    assert checked.endswith("No context")
    assert "0 of" in browser.text("#items-detail")


def test_filters_search_and_pages(browser: Browser, rich_page: Path) -> None:
    browser.open(rich_page)
    everything = int(browser.text("#items-count").split()[-1])
    assert everything > 12
    browser.click("#items-pages button:nth-child(2)")
    assert browser.text("#items-count").startswith("Questions 13 to ")
    browser.script("const s = document.getElementById('items-view'); s.value = 'flips'; "
                   "s.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    flips = int(browser.text("#items-count").split()[-1])
    assert 0 < flips < everything
    assert browser.text("#items-count").startswith("Questions 1 to ")
    browser.type("#items-text", "no such words anywhere")
    assert browser.text("#items-count") == "No question fits."


# --- appearance ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_overflows_and_text_has_contrast(browser: Browser, rich_page: Path, width: int, scheme: str) -> None:
    browser.size(width)
    browser.scheme(scheme)
    browser.open(rich_page)
    browser.click("#items-list tbody tr:nth-child(1) th button")
    assert browser.script("return document.documentElement.scrollWidth") == width
    colours = browser.script("""
        const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
        return {paper: of("body", "backgroundColor"), ink: of("body", "color"), quiet: of(".facts", "color"),
                link: of("#items-list th button", "color"), best: of("svg .name.second", "fill"),
                first: of("svg .name.first", "fill"), dropped: of(".eyebrow", "color")};
    """)
    paper = luminance(colours.pop("paper"))
    assert (paper > 0.5) == (scheme == "light")
    for name, colour in colours.items():
        a, b = sorted((paper, luminance(colour)))
        assert (b + 0.05) / (a + 0.05) >= 4.5, name


def luminance(colour: str) -> float:
    """Relative luminance of "rgb(r, g, b)" as WCAG defines it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_any_length_do_not_widen_the_page(browser: Browser, hostile_page: Path, width: int) -> None:
    browser.size(width)
    browser.open(hostile_page)
    browser.script("document.querySelector('#items-list th button').click()")
    assert browser.script("return document.documentElement.scrollWidth") == width


def test_wide_tables_scroll_in_their_box_with_the_keyboard(browser: Browser, rich_page: Path) -> None:
    browser.size(390)
    browser.open(rich_page)
    box = "document.querySelector('#table-3 .wide')"
    assert browser.script(f"return [{box}.tabIndex, {box}.getAttribute('role'), {box}.scrollLeft]") == [0, "group", 0]
    assert browser.script(f"return {box}.getAttribute('aria-label')").startswith("Table 3. ")
    browser.size(1280)
    assert browser.script(f"window.dispatchEvent(new Event('resize')); return {box}.tabIndex") == -1


def test_paper_is_light_and_has_no_controls(browser: Browser, rich_page: Path) -> None:
    browser.scheme("dark", media="print")
    browser.open(rich_page)
    assert luminance(browser.script("return getComputedStyle(document.body).backgroundColor")) == pytest.approx(1)
    for control in ("nav", ".slider", ".filters", "#items-list"):
        assert browser.script("return document.querySelector(arguments[0]).offsetHeight", control) == 0
    assert browser.printed().startswith(b"%PDF-")
