"""Server, bots and Prometheus as processes, each on ports that the system chose."""
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SHOAL_BIN", ROOT / "build" / "dev" / "bin"))
TIME_OUT = 120
TOKEN = "a token that only this test knows"


def wait_for(what, attempt):
    """The first true value of attempt(); fails after TIME_OUT seconds."""
    deadline = time.monotonic() + TIME_OUT
    while not (value := attempt()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {TIME_OUT} s")
        time.sleep(0.05)
    return value


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        (cls.path / "token").write_text(TOKEN + "\n", encoding="utf-8")
        (cls.path / "token").chmod(0o600)

    @classmethod
    def start(cls, *command):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment["XDG_STATE_HOME"] = str(cls.path / "state")
        log = open(cls.path / f"{pathlib.Path(command[0]).name}.log", "ab")
        process = subprocess.Popen([str(word) for word in command], env=environment, stdout=log, stderr=log)
        cls.addClassCleanup(log.close)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        return process

    @classmethod
    def log_of(cls, program):
        return (cls.path / f"{program}.log").read_text(encoding="utf-8", errors="replace")

    @classmethod
    def port_in(cls, name, process):
        file = cls.path / name

        def attempt():
            if process.poll() is not None:
                raise AssertionError(f"it did not start: {cls.log_of('shoal-server')}")
            return file.exists() and file.read_text(encoding="utf-8").endswith("\n")

        wait_for(name, attempt)
        return int(file.read_text(encoding="utf-8"))

    @classmethod
    def start_server(cls, *arguments):
        """Sets server, port and url."""
        for name in ("port", "admin-port"):
            (cls.path / name).unlink(missing_ok=True)
        cls.server = cls.start(BIN / "shoal-server", "--bind", "127.0.0.1", "--port", 0, "--port-file", cls.path / "port",
                               "--admin", "127.0.0.1:0", "--admin-port-file", cls.path / "admin-port", *arguments)
        cls.admin_port = cls.port_in("admin-port", cls.server)
        cls.port = cls.port_in("port", cls.server)
        cls.url = f"http://127.0.0.1:{cls.admin_port}"
        wait_for("the first tick", lambda: cls.ask("GET", "/healthz")[0] == 200)

    @classmethod
    def start_bots(cls, bots, *arguments):
        process = cls.start(BIN / "shoal-bots", "--server", f"127.0.0.1:{cls.port}", "--bots", bots, *arguments)
        wait_for("bots in the game", lambda: len(json.loads(cls.ask("GET", "/players.json")[1])) >= bots)
        return process

    @classmethod
    def ask(cls, method, path, token=None, body=None):
        """Status and text of a reply."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(cls.url + path, method=method, headers=headers,
                                         data=body.encode() if body else None)
        try:
            with urllib.request.urlopen(request, timeout=TIME_OUT) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    @classmethod
    def start_prometheus(cls):
        """Scrapes the server four times a second. Sets prometheus_url."""
        config = (ROOT / "docker" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
        config = re.sub(r"(scrape|evaluation)_interval: .*", r"\1_interval: 250ms", config)
        config = config.replace("server:7780", f"127.0.0.1:{cls.admin_port}")
        (cls.path / "prometheus.yml").write_text(config, encoding="utf-8")
        rules = ROOT / "docker" / "prometheus" / "alerts.yml"
        (cls.path / "alerts.yml").write_text(rules.read_text(encoding="utf-8"), encoding="utf-8")
        # Prometheus cannot tell which port it took. Another process may take a free one first: then another is tried.
        while True:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            process = cls.start("prometheus", f"--config.file={cls.path / 'prometheus.yml'}",
                                f"--storage.tsdb.path={cls.path / f'data-{port}'}", f"--web.listen-address=127.0.0.1:{port}")
            cls.prometheus_url = f"http://127.0.0.1:{port}"
            if wait_for("Prometheus", lambda: "ready" if cls.is_up() else "ended" if process.poll() is not None else None) == "ready":
                return
            if "address already in use" not in cls.log_of("prometheus"):
                raise AssertionError(cls.log_of("prometheus"))

    @classmethod
    def is_up(cls):
        try:
            with urllib.request.urlopen(f"{cls.prometheus_url}/-/ready", timeout=TIME_OUT):
                return True
        except (urllib.error.URLError, ConnectionError):
            return False

    @classmethod
    def query(cls, expression):
        """The series of an instant query."""
        text = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"{cls.prometheus_url}/api/v1/query?{text}", timeout=TIME_OUT) as reply:
                answer = json.loads(reply.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from error
        return answer["data"]["result"]
