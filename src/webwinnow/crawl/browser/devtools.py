"""`Browser`: a headless Chromium with a disposable profile, controlled over a pipe with the DevTools protocol.

The pipe, unlike a debugging port, can be reached neither by pages nor by other users of the machine. The browser is the
leader of a process group that `kill` ends, and the kernel ends it when this process dies.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.errors import InputError, SettingsError

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
PROFILE: Final = "webwinnow-browser-"
LOCK: Final = "lock"
LONGEST_TEMPORARY: Final = 34
"""Characters of the folder of temporary files: the path of a socket has at most 107, of which Chromium needs 72."""
GONE: Final = "gone"
"""The event that listeners get when the browser has ended."""
START_SECONDS: Final = 30.0
MOST_MESSAGE_BYTES: Final = 1 << 28
"""Bytes of one message from the browser; the captured page is limited before it is sent."""

FLAGS: Final = """
--headless=new --remote-debugging-pipe --no-first-run --no-default-browser-check --disable-gpu --mute-audio
--hide-scrollbars --force-color-profile=srgb --disable-dev-shm-usage --password-store=basic --use-mock-keychain
--disable-background-networking --disable-component-update --disable-sync --disable-default-apps --disable-extensions
--disable-client-side-phishing-detection --disable-domain-reliability --disable-breakpad --metrics-recording-only
--no-pings --dns-prefetch-disable --disable-quic --webrtc-ip-handling-policy=disable_non_proxied_udp
--block-new-web-contents --deny-permission-prompts --disable-notifications --disable-remote-fonts-prefetch
--disable-site-isolation-trials --disable-shared-workers --proxy-bypass-list=<-loopback>
--js-flags=--max-old-space-size=512
--gaia-url=NOWHERE --google-base-url=NOWHERE --gcm-checkin-url=NOWHERE --component-updater=url-source=NOWHERE
""".replace("NOWHERE", "http://127.0.0.1:1/").split()
"""No traffic of the browser's own, none past the proxy (QUIC, WebRTC, DNS), no windows, no prompts.

No switch stops Chromium from asking its vendor for accounts, components and a search page. So these have a URL that it
refuses to open: port 1 is one of the ports that the Fetch standard blocks (2.9).
"""
FEATURES_OFF: Final = (
    "IsolateOrigins,site-per-process,IsolateSandboxedIframes,Translate,MediaRouter,OptimizationHints,"
    "DialMediaRouteProvider,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,"
    "AutofillServerCommunication,NetworkTimeServiceQuerying,WebTransport,AsyncDns,UseDnsHttpsSvcb,"
    "PreconnectToSearch,SearchEnginePreconnect2"
)
"""One process for all frames, so that one session sees the requests of all; the others contact servers of their own."""
LAUNCH: Final = """
import os, sys
parent, reading, writing, *command = sys.argv[1:]
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
if os.getppid() != int(parent):
    os._exit(1)
ends = [os.dup(int(reading)), os.dup(int(writing))]
while min(ends) < 5:
    ends = [os.dup(end) for end in ends]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(command[0], command)
"""
"""Becomes the browser: asks the kernel to be killed with its parent, and moves the pipe to file descriptors 3 and 4."""


class BrowserGone(InputError):
    """The browser has ended, or does not answer."""


class DevtoolsError(InputError):
    """The browser refused a command."""


def find_chromium(program: str | None = None) -> str:
    """Return the path of Chromium, or of the program that was chosen; `SettingsError` if there is none."""
    names = PROGRAMS if program is None else (program,)
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise SettingsError(f"rendering needs Chromium ({', '.join(names)} not found); install it, as with apt install")
    return str(Path(found).absolute())


class Browser:
    """A running browser. `send` calls a method; `listeners` get the events of a session ("" for the browser's own)."""

    def __init__(self, process: subprocess.Popen[bytes], profile: Path, lock: int) -> None:
        self.process = process
        self.profile = profile
        self.lock = lock
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        self.gone: str | None = None
        self.pages = 0
        self.user_agent = ""
        self.watcher = ThreadPoolExecutor(1)  # of its own: the memory limit must not wait for anything else
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0

    @classmethod
    async def start(cls, settings: RenderSettings, proxy: str) -> Self:
        """Start a browser whose own traffic, of which there should be none, goes to `proxy`."""
        program = find_chromium(settings.chromium)
        if len(tempfile.gettempdir()) > LONGEST_TEMPORARY:
            raise SettingsError(
                f"{tempfile.gettempdir()} is too long for the sockets of Chromium; set TMPDIR to a short path"
            )
        profile, lock = _new_profile()
        sandbox = os.geteuid() != 0 if settings.sandbox is None else settings.sandbox
        command = [
            program,
            *FLAGS,
            f"--disable-features={FEATURES_OFF}",
            f"--user-data-dir={profile}",
            f"--window-size={settings.width},{settings.height}",
            f"--proxy-server={proxy}",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are resolved by the proxy only
            *([] if sandbox else ["--no-sandbox"]),
            "about:blank",
        ]
        commands, answers = os.pipe(), os.pipe()
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCH, str(os.getpid()), str(commands[0]), str(answers[1])]
        try:
            with (profile / "errors.log").open("wb") as errors:
                process = subprocess.Popen(
                    [*launcher, *command],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env={
                        "PATH": os.environ.get("PATH", ""),
                        "HOME": str(profile),
                        "TMPDIR": str(profile),
                        "LANG": "C.UTF-8",
                    },
                    pass_fds=(commands[0], answers[1]),
                    start_new_session=True,
                )
        finally:
            os.close(commands[0])
            os.close(answers[1])
        self = cls(process, profile, lock)
        try:
            await self._open(commands[1], answers[0])
            async with asyncio.timeout(START_SECONDS):
                version = await self.send("Browser.getVersion")
        except (BrowserGone, TimeoutError) as problem:
            message = (profile / "errors.log").read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
            await self.kill()
            raise BrowserGone(f"{program} could not be started ({message or problem})") from None
        self.user_agent = str(version["userAgent"]).replace("HeadlessChrome", "Chrome")
        return self

    async def _open(self, writing: int, reading: int) -> None:
        loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(limit=MOST_MESSAGE_BYTES)
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._inward, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb", 0))
        outward, flow = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(writing, "wb", 0)
        )
        self._writer = asyncio.StreamWriter(outward, flow, None, loop)
        self._listening = asyncio.ensure_future(self._listen())

    async def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Call a method and return its result; `BrowserGone` or `DevtoolsError` if that fails."""
        if self.gone is not None:
            raise BrowserGone(self.gone)
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._writer.write(json.dumps(message).encode() + b"\0")
            await self._writer.drain()
            return await answer
        except OSError:
            raise BrowserGone("the browser has ended") from None
        finally:
            self._waiting.pop(number, None)

    async def _listen(self) -> None:
        why = "the browser has ended"
        try:
            while True:
                message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
                waiting = self._waiting.get(message.get("id", 0))
                if waiting is not None and not waiting.done():
                    if "error" in message:
                        waiting.set_exception(DevtoolsError(str(message["error"].get("message", ""))))
                    else:
                        waiting.set_result(message.get("result", {}))
                elif "method" in message:
                    listener = self.listeners.get(message.get("sessionId", ""))
                    if listener is not None:
                        listener(message["method"], message.get("params", {}))
        except (EOFError, OSError):
            pass
        except (ValueError, asyncio.LimitOverrunError):
            why = "the browser sent what cannot be read"
        self.fail(why)

    def fail(self, why: str) -> None:
        """Kill the browser at once; what waits for it gets `BrowserGone`."""
        self.gone = self.gone or why
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(BrowserGone(self.gone))
        for listener in self.listeners.values():
            listener(GONE, {})

    async def kill(self) -> None:
        """End the browser and all its processes, and remove its profile."""
        self.fail("the browser was ended")
        if hasattr(self, "_writer"):
            for end in (self._writer.transport, self._inward):
                if not end.is_closing():
                    end.close()
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.process.wait)
        await loop.run_in_executor(None, lambda: shutil.rmtree(self.profile, ignore_errors=True))
        self.watcher.shutdown(wait=False)
        os.close(self.lock)

    def memory(self) -> int:
        """Return the bytes of memory that the processes of the browser have for themselves; 0 where not known."""
        return sum(map(_own_memory, _group(self.process.pid)))


def _new_profile() -> tuple[Path, int]:
    """Make a folder for a profile, and a lock on it that lasts as long as this process."""
    profile = Path(tempfile.mkdtemp(prefix=PROFILE))
    lock = os.open(profile / "unlocked", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (profile / "unlocked").rename(profile / LOCK)
    return profile, lock


def remove_old_profiles() -> None:
    """Remove the profiles of processes that were killed."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PROFILE}*/{LOCK}"):
        with suppress(OSError), lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


def _group(leader: int) -> list[int]:
    """List the processes of a process group (Linux)."""
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                if os.getpgid(int(name)) == leader:
                    found.append(int(name))
    return found


def _own_memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
