"""Headless Chromium, driven through its DevTools protocol over a pipe. Standard library alone."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No name resolves: whatever a page asks of the network fails.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)
TIMEOUT_SECONDS = 60


def find_program():
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    def __init__(self, program):
        self._profile = tempfile.TemporaryDirectory(prefix="report-browser-", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The protocol wants descriptors 3 and 4; a shell renames single-digit ones only.
        os.dup2(to_browser, 8)
        os.dup2(from_browser, 9)
        command = [program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&8 4>&9 8<&- 9>&-', "sh", *command], pass_fds=(8, 9),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for descriptor in (to_browser, from_browser, 8, 9):
            os.close(descriptor)
        self._bytes = b""
        self._number = 0
        self.events = []
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = None
        self._session = self._send("Target.attachToTarget",
                                   {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def call(self, method, **parameters):
        return self._send(method, parameters, self._session)

    def _send(self, method, parameters, session=None):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _receive(self):
        end = time.monotonic() + TIMEOUT_SECONDS
        while b"\0" not in self._bytes:
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            chunk = os.read(self._in, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._bytes += chunk
        text, self._bytes = self._bytes.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path, width, height=900, dark=False):
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        self.wait_for("document.readyState === 'complete'")
        self.wait_for("[...document.querySelectorAll('figure')].every(figure => "
                      "figure.clientWidth === 0 || figure.querySelector('svg, .note'))")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + TIMEOUT_SECONDS
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"never: {expression}; {self.problems()}")
            time.sleep(0.02)

    def problems(self):
        """What the page did that a sound page does not: errors, warnings, requests."""
        found = []
        for event in self.events:
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {parameters['exceptionDetails']}")
            elif method == "Runtime.consoleAPICalled":
                found.append(f"console.{parameters['type']}: {parameters['args']}")
            elif method == "Log.entryAdded":
                found.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
            elif method == "Network.requestWillBeSent" and parameters["type"] != "Document":
                found.append(f"asked for {parameters['request']['url']}")
        return found

    def key(self, key, code):
        text = {"Enter": "\r"}.get(key, "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text,
                  windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key,
                  windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
