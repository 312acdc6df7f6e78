"""Headless Chromium for tests, through chromedriver's own protocol: no library, no network but the loopback."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Talks to the driver whatever proxy the environment names."""

TAB, ENTER, SPACE, LEFT, RIGHT, DOWN = "\ue004", "\ue007", " ", "\ue012", "\ue014", "\ue015"


class Browser:
    """One session of a browser."""

    def __init__(self, address: str, session: str) -> None:
        self._base = f"{address}/session/{session}"

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return _request(f"{self._base}/{path}", body)

    def open(self, file: Path) -> None:
        """Opens a local file."""
        self._post("url", {"url": file.resolve().as_uri()})

    def script(self, code: str, *arguments: Any) -> Any:
        """Runs JavaScript of the test (outside the page's policy) and returns what it returns."""
        return self._post("execute/sync", {"script": code, "args": list(arguments)})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the developer tools."""
        return self._post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int = 900) -> None:
        """The size of the visible page in pixels."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def scheme(self, name: str, media: str = "screen") -> None:
        """The colours that the reader prefers: "light" or "dark"; ``media``: "screen" or "print"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=features)

    def scripts(self, enabled: bool) -> None:
        """Whether pages that are opened from now on may run scripts."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=not enabled)

    def find(self, selector: str) -> str:
        """The id of the first element that a selector finds; fails where there is none."""
        found = self._post("element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def click(self, selector: str) -> None:
        """Clicks as a person would: the element is scrolled into view and must not be covered."""
        self._post(f"element/{self.find(selector)}/click", {})

    def type(self, selector: str, keys: str) -> None:
        """Types into an element."""
        self._post(f"element/{self.find(selector)}/value", {"text": keys})

    def press(self, *keys: str) -> None:
        """Presses keys wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def text(self, selector: str) -> str:
        """The text of an element as it is shown."""
        return str(self.script("return document.querySelector(arguments[0]).innerText", selector))

    def console(self) -> list[str]:
        """Messages of the console since the last call, warnings and worse."""
        entries = self._post("se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Saves what is visible, or the whole page, as PNG."""
        options: dict[str, Any] = {"format": "png"}
        if whole:
            height = self.script("return document.documentElement.scrollHeight")
            width = self.script("return document.documentElement.clientWidth")
            options["captureBeyondViewport"] = True
            options["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        file.write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot", **options)["data"]))

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self._post("print", {"background": True}))


def _request(url: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with _LOCAL.open(request, timeout=120) as response:
            return json.load(response)["value"]
    except urllib.error.HTTPError as problem:
        raise AssertionError(json.load(problem)["value"]["message"]) from None


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A fresh headless browser; skips the test where Chromium or its driver is not installed."""
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("Chromium and chromedriver are not installed (Debian: chromium chromium-driver)")
    with tempfile.TemporaryDirectory() as profile:
        process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = f"http://127.0.0.1:{_port(process)}"
            options = {"binary": program, "args": [*_FLAGS, f"--user-data-dir={profile}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = _request(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            try:
                yield Browser(address, session)
            finally:
                _request(f"{address}/session/{session}", method="DELETE")
        finally:
            process.terminate()
            process.wait(30)


def _port(process: subprocess.Popen[str]) -> int:
    """The port that the driver chose; it says so in a line of its output."""
    assert process.stdout is not None
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        words = process.stdout.readline().rstrip(".\n").split()
        if "successfully" in words and words[-1].isdigit():
            return int(words[-1])
    pytest.fail("chromedriver did not say which port it uses")
