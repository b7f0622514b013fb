"""The page, in a real browser."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="the tests of the page need the package playwright")

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium here; apt-get install chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
"""Nothing that asks for other hosts, or for what a machine without a screen does not have."""
PATIENCE = 60
"""Seconds after which a test gives up, however busy the machine is."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, served) -> Iterator[Any]:
    """The page, loaded; the test fails if it asks another host for something or if a script fails."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.url)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    hosts: set[str] = set()
    mistakes: list[str] = []
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    page.on("console", lambda told: "Content Security Policy" in told.text and mistakes.append(told.text))
    page.goto(served.url)
    page.wait_for_selector("body[data-ready]")
    yield page
    context.close()
    assert hosts - {""} == {served.url.removeprefix("http://")}
    assert mistakes == []


def parse(page: Any, text: str) -> None:
    page.fill("#text", text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".card")


def until(page: Any, condition: str) -> None:
    """Wait for an expression to hold; playwright's own way of waiting is what the page's policy forbids."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


def card(page: Any, framework: str) -> Any:
    return page.get_by_role("article", name=f"{framework} graph")


def test_graphs_of_several_frameworks_side_by_side(page):
    parse(page, "Dogs bark.")
    assert page.locator(".card h2").all_inner_texts() == ["EDS", "AMR", "UCCA"]
    boxes = [card(page, name).bounding_box() for name in ("eds", "amr")]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    assert card(page, "eds").locator(".node").count() == 3
    page.get_by_role("checkbox", name="amr").uncheck(force=True)
    page.get_by_role("button", name="Parse").click()
    until(page, "document.querySelectorAll('.card').length === 2")


def test_words_light_up_nodes_and_back(page):
    parse(page, "Dogs bark.")
    page.locator("#sentence .token").nth(1).hover()
    lit = card(page, "eds").locator(".node.lit")
    assert lit.count() == 1
    assert "bark" in lit.get_attribute("aria-label")
    card(page, "eds").locator(".node").nth(0).hover()
    assert page.locator("#sentence .token.lit").all_inner_texts() == ["Dogs"]
    page.mouse.move(2, 2)
    assert page.locator(".lit").count() == 0


def test_probability_is_opacity_and_the_slider_hides(page):
    parse(page, "Dogs bark.")
    node = card(page, "eds").locator(".node").first
    until(page, "getComputedStyle(document.querySelector('.node')).opacity === '0.93'")
    page.fill("#least", "0.95")
    until(page, "getComputedStyle(document.querySelector('.node')).opacity < 0.1")
    assert "probability 0.90" in node.get_attribute("aria-label")
    page.fill("#least", "0")
    page.uncheck("#fade")
    until(page, "getComputedStyle(document.querySelector('.node')).opacity === '1'")


def test_editing_a_label_an_edge_and_the_findings(page):
    parse(page, "Dogs bark.")
    eds = card(page, "eds")
    eds.locator(".node").nth(0).click()
    panel = page.get_by_role("complementary", name="details")
    panel.get_by_label("Label").fill("cat")
    panel.get_by_label("Label").press("Enter")
    eds.locator(".node[aria-label*='cat']").wait_for()
    assert eds.get_by_text("valid").count() == 1
    eds.get_by_label("edge ARG1 from cat to bark").focus()
    page.keyboard.press("Enter")
    panel.get_by_label("Label").fill("")
    panel.get_by_label("Label").press("Tab")
    findings = eds.get_by_role("list", name="findings of the validator")
    assert "has no label" in findings.inner_text()
    page.get_by_role("button", name="undo").first.click()
    findings.wait_for(state="detached")
    eds.locator(".node").nth(2).click()
    panel.get_by_role("button", name="Delete node").click()
    until(page, "document.querySelector('.card').querySelectorAll('.node').length === 2")
    assert panel.is_hidden()
    eds.get_by_role("button", name="+ node").click()
    panel.get_by_role("button", name="Connect to").click()
    eds.locator(".node").nth(0).click()
    eds.get_by_label("edge ARG1 from new to cat").wait_for()
    assert "g=" in page.url


def test_alternatives_can_be_taken(page):
    parse(page, "Dogs bark.")
    eds = card(page, "eds")
    eds.locator(".node").nth(0).click()
    page.locator("#panel .alternative").first.click()
    eds.locator(".node[aria-label*='dog-other']").wait_for()
    eds.get_by_label("edge ARG1 from bark").focus()
    page.keyboard.press("Enter")
    assert page.locator("#panel .alternative").first.inner_text().split() == ["ARG2", "0.100"]
    page.locator("#panel .alternative").first.click()
    eds.get_by_label("edge ARG2 from bark").wait_for()


def test_a_model_of_several_languages(browser, serving):
    with serving(models=("eng", "multi")) as served:
        page = browser.new_page()
        page.goto(served.url)
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#model option").all_inner_texts() == ["English (eng)", "German (multi)", "Czech (multi)"]
        page.select_option("#model", "multi/ces")
        parse(page, "Ahoj.")
        assert page.locator(".card h2").all_inner_texts() == ["PTG", "UMR"]
        page.reload()
        page.wait_for_selector(".card")
        assert page.input_value("#model") == "multi/ces"
        page.close()


def test_comparing_with_gold(page, tmp_path):
    parse(page, "Dogs bark.")
    gold = {"id": "9", "framework": "eds", "flavor": 1, "input": "Dogs bark.", "tops": [0]}
    gold["nodes"] = [{"id": 0, "label": "bark"}, {"id": 1, "label": "puppy"}]
    gold["edges"] = [{"source": 0, "target": 1, "label": "ARG1"}]
    (tmp_path / "gold.mrp").write_text(json.dumps(gold))
    page.set_input_files("#gold", tmp_path / "gold.mrp")
    eds = card(page, "eds")
    eds.locator("svg.diff").wait_for()
    assert eds.locator("svg .missing").count() > 0
    assert "F1" in eds.inner_text()
    assert card(page, "ucca").locator("svg.diff").count() == 0
    eds.get_by_role("button", name="Difference").click()
    assert eds.locator("svg.diff").count() == 0
    page.get_by_role("button", name="Without gold").click()
    until(page, "!document.body.innerText.includes('F1')")
    (tmp_path / "odd.mrp").write_text("no graph")
    page.set_input_files("#gold", tmp_path / "odd.mrp")
    page.get_by_role("alert").filter(has_text="is this another format?").wait_for()


def test_permalink_and_history(page, served):
    parse(page, "First one. Second one.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="next sentence").click()
    page.get_by_text("2 of 2").wait_for()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Link copied").wait_for()
    address = page.evaluate("navigator.clipboard.readText()")
    assert address.startswith(served.url)
    other = page.context.new_page()
    other.goto(address)
    other.get_by_text("2 of 2").wait_for()
    assert other.locator("#sentence").inner_text() == "Second one."
    other.get_by_role("button", name="History").click()
    other.get_by_role("dialog").get_by_role("button", name="First one.").click()
    other.get_by_text("1 of 2").wait_for()
    damaged = page.context.new_page()
    damaged.goto(served.url + "/#g=nonsense")
    damaged.get_by_role("alert").filter(has_text="damaged").wait_for()


@pytest.mark.parametrize(
    ("format", "start"), [("mrp", b'{"id"'), ("eds", b"#"), ("svg", b"<svg"), ("html", b"<!DOCTYPE")]
)
def test_downloads(page, tmp_path, format, start):
    parse(page, "Dogs bark.")
    eds = card(page, "eds")
    eds.locator("summary").click()
    names = eds.locator(".menu button").all_inner_texts()
    assert {"mrp", "eds", "tikz", "svg", "html", "png", "pdf", "text"} <= set(names)
    assert "amr" not in names
    with page.expect_download() as download:
        eds.get_by_role("button", name=format, exact=True).click()
    download.value.save_as(tmp_path / "file")
    assert (tmp_path / "file").read_bytes().startswith(start)


def test_copy_as_tikz(page):
    parse(page, "Dogs bark.")
    card(page, "eds").locator("summary").click()
    card(page, "eds").get_by_role("button", name="copy TikZ").click()
    page.get_by_text("TikZ copied").wait_for()
    assert "tikzpicture" in page.evaluate("navigator.clipboard.readText()")


def test_errors_are_told(page):
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("alert").filter(has_text="Type a sentence first").wait_for()
    page.fill("#text", "refuse this")
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("alert").filter(has_text="is refused").wait_for()
    parse(page, "Fine <b>&amp;</b> well.")
    assert page.get_by_role("alert").is_hidden()
    assert page.locator("#sentence").inner_text() == "Fine <b>&amp;</b> well."
    page.route("**/v1/parse", lambda route: route.abort())
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("alert").filter(has_text="can't be reached").wait_for()


def test_dark_mode_and_keys(page):
    page.keyboard.press("Escape")
    page.locator("body").click(position={"x": 5, "y": 500})
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"


def test_a_phone(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(served.url)
    page.wait_for_selector("body[data-ready]")
    parse(page, "The quick brown dog barks at the mail carrier every morning.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    card(page, "eds").locator(".node").first.click()
    assert page.locator("#panel").bounding_box()["width"] == 390
    context.close()


@pytest.mark.parametrize("words", [3, 12, 40])
def test_graphs_that_share_a_row_stay_readable(page, words):
    parse(page, " ".join(["Dogs", *["bark"] * (words - 2), "."]))
    scales = page.evaluate(
        """[...document.querySelectorAll('.stage svg')].map(
            (svg) => [svg.getAttribute('width') / svg.viewBox.baseVal.width, svg.closest('.card').offsetWidth])"""
    )
    whole = page.locator("#cards").bounding_box()["width"]
    assert scales
    assert all(scale >= 0.8 or width > whole - 2 for scale, width in scales)
    assert all(scale >= 0.65 for scale, _ in scales)


def test_the_text_is_seen_whole(page):
    page.fill("#text", "A sentence that is far longer than a line of the page. " * 6)
    assert (
        page.evaluate("document.getElementById('text').scrollHeight - document.getElementById('text').clientHeight")
        <= 1
    )


def test_everything_that_can_be_used_has_a_name(page):
    parse(page, "Dogs bark.")
    card(page, "eds").locator(".node").first.click()
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, input, select, textarea, summary, [tabindex="0"]')]
        .filter((part) => !(part.getAttribute('aria-label') || part.textContent.trim() || part.labels?.length))
        .map((part) => part.outerHTML)"""
    )
    assert unnamed == []


def test_dropped_graphs_are_shown(page):
    text = json.dumps(
        {"id": "1", "framework": "amr", "input": "x y", "tops": [0], "nodes": [{"id": 0, "label": "dropped"}]}
    )
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "graphs.mrp"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        text,
    )
    card(page, "amr").locator(".node[aria-label*='dropped']").wait_for()


def test_the_interface_describes_itself(page, served):
    page.goto(served.url + "/docs")
    page.get_by_text("/v1/parse").first.wait_for()
    assert page.get_by_text("probabilities", exact=True).count() == 1


def test_a_key_is_asked_for(browser, serving):
    with serving(keys=frozenset(["secret"])) as served:
        page = browser.new_page()
        page.goto(served.url)
        page.get_by_label("key", exact=True).fill("secret")
        page.get_by_role("button", name="Close").click()
        page.wait_for_selector("body[data-ready]")
        page.close()
