"""The HTML pages in a browser: they draw without an error, fetch nothing, and work in light, dark and by keyboard."""

from __future__ import annotations

import os
import shutil

import pytest
from corpus_maker import make
from explaining import explained
from places import missing

from abi.loader import resolve
from grader.explain import write
from grader.manifest import load_corpus
from grader.run import Options, grade

BACKGROUNDS = {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 22, 26)"}  # --bg of report.css and explain.css


@pytest.fixture(scope="module")
def browser():
    """Any installed Chromium; Playwright's own is never fetched."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed (pip install 'pynes-ref[test]')")
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    path = next(found, None)
    if path is None:
        if os.environ.get("PYNES_NO_BROWSER"):
            pytest.skip("no Chromium, and PYNES_NO_BROWSER is set")
        missing("no Chromium is installed (apt-get install chromium)")
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(params=["light", "dark"])
def page(request, browser):
    """An empty page of 900 pixels; at the end nothing has failed and nothing came over the network."""
    with browser.new_context(color_scheme=request.param, viewport={"width": 900, "height": 800}) as context:
        tab = context.new_page()
        faults, asked = [], []
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.scheme = request.param
        yield tab
        assert faults == []
        assert asked
        assert [url for url in asked if not url.startswith(("data:", "file:"))] == []


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def fits(page):
    """Is nothing wider than the window?"""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The toy with A and B exchanged, judged with everything that can stand beside the score."""
    import toy_emulator as toy

    folder = tmp_path_factory.mktemp("report")
    (folder / "toy.wasm").write_bytes(toy.module())
    emulator, swapped, late = (resolve(f"{folder / 'toy.wasm'}{bug}") for bug in ("", ":ab-swap", ":scanline"))
    options = Options(jobs=0, cache=folder / "cache", strict=True, hints=True, also=late)
    grade(load_corpus(make(folder / "corpus")), swapped, emulator, folder / "out", options)
    return (folder / "out" / "report.html").as_uri()


def test_the_report(page, report):
    page.goto(report)
    assert background(page) == BACKGROUNDS[page.scheme]
    # Whose last picture alone is scored says so before and after it is opened.
    assert page.locator(".case .sub", has_text="last picture").count() == 1
    page.focus("#case-one summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-one[data-ready]")
    assert "informs only" in page.locator("#case-one").inner_text()
    page.check("#imperfect")
    assert page.locator(".case:visible").count() == 1  # the bug shows in ``game`` alone
    page.uncheck("#imperfect")
    page.focus("#case-game summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-game[data-ready]")
    label = page.locator("#case-game output")
    assert label.inner_text().startswith("frame 10 ·")  # the replay's first A
    assert label.inner_text().endswith("· A")
    page.keyboard.press("ArrowLeft")
    assert label.inner_text().startswith("frame 9 · score 1 · 0 pixels differ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert label.inner_text().startswith("frame 11 ·")
    page.wait_for_function(
        "(() => { const all = [...document.querySelectorAll('#case-game canvas')].map(c => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some(v => v)); return all.length === 6 && all.every(v => v); })()"
    )
    red = (
        "(() => { const c = document.querySelector('#case-game canvas[aria-label=difference]');"
        "const d = c.getContext('2d').getImageData(0, 0, 256, 240).data; let n = 0;"
        "for (let i = 0; i < d.length; i += 4) n += d[i] === 255 && d[i + 1] === 48; return n; })()"
    )
    shown = int(label.inner_text().split(" pixels")[0].split()[-1])
    page.wait_for_function(f"{red} === {shown}")
    page.click("#theme")
    assert background(page) != BACKGROUNDS[page.scheme]


def test_what_stands_beside_the_score(page, report):
    """Loudness is right, every picture is disputed, and A and B exchanged cost the one testcase with buttons."""
    page.goto(report)
    beside = page.locator(".beside")
    assert "Strict, with loudness:" in beside.inner_text()
    assert "without what the references dispute in one, two, game" in beside.inner_text()
    assert "replay/gameplay: 1 of 1 testcases lose points (game)" in beside.inner_text()
    assert page.locator(".case .remark", has_text="references differ: picture").count() == 3
    for width in (900, 400):
        page.set_viewport_size({"width": width, "height": 800})
        assert fits(page)


@pytest.fixture(scope="module")
def explanation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    write(explained("pynes_ref:scanline"), folder)
    return (folder / "explain.html").as_uri()


def test_an_explanation(page, explanation):
    """All four pictures are drawn, and the lists show what is newest, at their end."""
    page.goto(explanation)
    assert background(page) == BACKGROUNDS[page.scheme]
    assert "one scanline lower" in page.locator("ul.guesses").inner_text()
    widths = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
    assert len(widths) == 4
    assert all(widths)
    ends = "[...document.querySelectorAll('.end')].map(e => e.scrollHeight - e.scrollTop - e.clientHeight)"
    below = page.evaluate(ends)
    assert below
    assert max(below) < 2
    assert fits(page)
