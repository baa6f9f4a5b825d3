"""A headless Chromium that tells what a page asks for and complains about, over the debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60
"""Seconds that a loaded machine may take to answer."""


class Page:
    """One tab; its events are kept in the order in which they came."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._buffer, self._last, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, path: Path, width: int, height: int = 900, *, scripts: bool = True) -> None:
        """Show a file in a window of a given size, with or without its scripts, and wait until it is quiet."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()
        self.call("Emulation.setScriptExecutionDisabled", value=False)  # what the page did not run stays undone
        self.ask("new Promise(done => setTimeout(done, 300))")

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        """Press a key on the element that has the focus."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}[
            key
        ]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        about = {"key": key, "code": key if key != " " else "Space", "windowsVirtualKeyCode": code}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
            self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def printed(self) -> bytes:
        """The page as the browser prints it, as PDF."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(answer["data"])

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        return [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[dict[str, Any]]:
        """What the page wrote to the console, and what the browser found wrong with it."""
        kinds = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        return [event["params"] for event in self.events if event["method"] in kinds]

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            assert time.monotonic() < deadline, "the browser does not answer"
            found = os.read(self._in, 1 << 16)
            assert found, "the browser has ended"
            self._buffer += found
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """A fresh browser with an empty profile, ended with the block."""
    there, to_browser = os.pipe()
    from_browser, here = os.pipe()
    command = f'exec "$0" "$@" 3<&{there} 4>&{here}'
    browser = subprocess.Popen(
        ["/bin/bash", "-c", command, CHROMIUM, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(there, here),
        stderr=subprocess.DEVNULL,
    )
    os.close(there)
    os.close(here)
    try:
        yield Page(to_browser, from_browser)
    finally:
        browser.terminate()
        browser.wait(PATIENCE)
        os.close(to_browser)
        os.close(from_browser)
