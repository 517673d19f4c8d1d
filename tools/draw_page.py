"""Draws the pictures of the page in the browser that docs show: runs two benches and opens each view.

Needs a Chromium on the path. Usage: ``python -m tools.draw_page FOLDER [--all]``; with ``--all`` every view
at three widths, light and dark, to be looked at rather than kept.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from waitress.server import create_server

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.page.server.app import App

SIZES = {"phone": (360, 740), "desk": (1400, 900), "wall": (1920, 1080)}
PATHS = (
    "MATCH p = (:Component {kind: 'pe_dma', pe: 0, cube: 0, sip: 0})-[:CONNECTS*1..3]->"
    "(:Component {kind: 'router'})\nRETURN p LIMIT 12"
)
CONE = (
    "MATCH p = (:Run {id: $run})-[:SENT]->(t:Transaction)-[:WAITED_FOR|CAUSED_BY*1..2]->(:Transaction)\n"
    "WHERE t.number = 306 RETURN p LIMIT 12"
)
VIEWS: dict[str, tuple[str, dict[str, str]]] = {
    "overview": ("overview", {}),
    "system": ("topology", {"view": "system"}),
    "sip": ("topology", {"view": "sip"}),
    "cube": ("topology", {"view": "cube"}),
    "pe": ("topology", {"view": "pe"}),
    "timeline": ("timeline", {}),
    "critical-path": ("path", {}),
    "waits": ("waits", {}),
    "roofline": ("roofline", {}),
    "energy": ("energy", {}),
    "questions": (
        "questions",
        {"question": "routing/path", "p.src": "sip0.cube0.pe0.pe_dma", "p.dst": "sip0.cube5.hbm_ctrl.pe1"},
    ),
    "cypher": ("cypher", {"text": PATHS}),
    "cone": ("cypher", {"text": CONE}),
    "comparison": ("compare", {}),
    "runs": ("runs", {}),
}
"""By name: the page, and what its address says further."""
KEPT = [("desk", "light", name) for name in VIEWS] + [
    (size, "dark", name) for size in ("phone", "wall") for name in ("cube", "timeline")
]


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of two runs."""
    with tempfile.TemporaryDirectory() as folder, borrowed(Path(folder) / "store") as store:
        for outstanding in (1, 2):  # requests in flight: comparisons compare equal work
            topo = {"pe.pe_dma.outstanding": outstanding}
            kb.run("qkv-gemm-multi-pe", verify=True, topo=topo, store=store)
        server = create_server(App(store), host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=server.run, daemon=True).start()
        yield f"http://127.0.0.1:{server.effective_port}/"
        server.trigger.pull_trigger(server.close)


def draw(browser: Browser, url: str, size: str, scheme: str, name: str, file: Path) -> None:
    """One view as a PNG."""
    wide, high = SIZES[size]
    page = browser.new_page(viewport={"width": wide, "height": high}, color_scheme=scheme)  # type: ignore[arg-type]
    page.on("console", lambda message: sys.exit(f"{name}: {message.text}"))
    view, params = VIEWS[name]
    page.goto(f"{url}#{view}?{urlencode(params)}" if params else f"{url}#{view}")
    page.wait_for_selector("#view[data-shown]", timeout=60_000)
    page.wait_for_selector("text=/quer(y is|ies are) running/", state="hidden", timeout=60_000)
    if name in ("cube", "pe"):  # somewhere in the middle of the launch
        page.get_by_label("time interval").fill("14")
        page.locator(
            '[data-id="pe2"], [data-id="pe_dma"]'
        ).first.click()  # a phone shows what lies around PE 2
    if name == "timeline":
        page.get_by_label("search").fill("gemm")
        page.get_by_label("search").press("Enter")
    page.mouse.move(0, 0)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(file, optimize=True)
    page.close()


def main(folder: Path, every: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(size, scheme, name) for size in SIZES for scheme in ("light", "dark") for name in VIEWS]
    found = next(
        (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None
    )
    with served() as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for size, scheme, name in wanted if every else KEPT:
            plain = (size, scheme) == ("desk", "light")
            file = folder / (f"{name}.png" if plain else f"{name}-{size}-{scheme}.png")
            draw(browser, url, size, scheme, name, file)
            print(file)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--all" in sys.argv)
