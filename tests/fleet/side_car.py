"""A stand-in for Agones' side-car, as far as a game server's REST calls go: it refuses what the real one refuses.

Written from Agones' published sources, never compared with a cluster. Health is counted in real time: a server that is
silent for longer than period x threshold is Unhealthy for good.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# gRPC's codes, as the REST face answers them.
INVALID, NOT_FOUND, OUT_OF_RANGE, UNIMPLEMENTED = (400, 3), (404, 5), (400, 11), (501, 12)


class Refused(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.status, self.code, self.message = *kind, message


class SideCar:
    def __init__(self, port=0, period_seconds=1, failure_threshold=3, counters=None, state="Scheduled", delay_seconds=0):
        self.lock = threading.RLock()
        self.period, self.threshold, self.delay = period_seconds, failure_threshold, delay_seconds
        self.state, self.deletion = state, 0
        self.labels, self.annotations, self.health_disabled = {}, {}, False
        self.counters = {"players": {"count": 0, "capacity": 0}} if counters is None else counters
        self.calls = []  # (time, "POST /ready", body as it came)
        self.states = [state]
        self.last_health = None
        self.reserved_until = None
        handler = type("Handler", (Handler,), {"side_car": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    # --- what a test looks at ---

    def names(self):
        """The calls in their order, the endless ones left out."""
        with self.lock:
            return [call for _, call, _ in self.calls if call not in ("POST /health", "GET /gameserver")]

    def count(self, call):
        with self.lock:
            return sum(1 for _, name, _ in self.calls if name == call)

    def now_in(self):
        with self.lock:
            self.run_clocks()
            return self.state

    def become(self, state):
        with self.lock:
            self.state = state
            self.states.append(state)

    # --- what happens by itself ---

    def run_clocks(self):
        now = time.monotonic()
        if self.reserved_until is not None and now >= self.reserved_until:
            self.reserved_until = None
            self.become("Ready")
        watched = not self.health_disabled and self.state not in ("Unhealthy", "Shutdown") and self.last_health is not None
        if watched and now - self.last_health > self.period * self.threshold:
            self.become("Unhealthy")

    # --- calls ---

    def answer(self, method, path, text):
        with self.lock:
            self.calls.append((time.monotonic(), f"{method} {path}", text))
            self.run_clocks()
            if method == "GET" and path == "/gameserver":
                return self.game_server()
            if method == "GET" and path.startswith("/v1beta1/counters/"):
                return self.counter(path.rsplit("/", 1)[1])
            if method == "PATCH" and path.startswith("/v1beta1/counters/"):
                return self.update_counter(path.rsplit("/", 1)[1], self.body(text, {"count", "capacity", "countDiff", "name"}))
            if method == "PUT" and path in ("/metadata/label", "/metadata/annotation"):
                return self.put(path, self.body(text, {"key", "value"}))
            if method == "POST" and path in self.POSTS:
                return self.POSTS[path](self, self.body(text, {"seconds"} if path == "/reserve" else set()))
            raise Refused(NOT_FOUND, "Not Found")

    def body(self, text, known):
        if not text:
            raise Refused(INVALID, "EOF")
        try:
            value = json.loads(text)
        except ValueError as error:
            raise Refused(INVALID, f"invalid character: {error}") from error
        if not isinstance(value, dict):
            raise Refused(INVALID, "unexpected token: an object is wanted")
        return {key: value[key] for key in value if key in known}  # unknown fields are dropped

    def integer(self, value):
        """64-bit integers are strings in JSON, numbers are read, too."""
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise Refused(INVALID, "invalid value for int64")
        try:
            return int(value)
        except ValueError as error:
            raise Refused(INVALID, f"invalid value for int64: {value}") from error

    def request_state(self, state):
        if self.state in ("Unhealthy", "Shutdown"):
            return {}  # taken and without effect: there is no way back
        self.reserved_until = None
        self.become(state)
        return {}

    def health(self, _):
        if self.state != "Unhealthy":
            self.last_health = time.monotonic()
        return {}

    def reserve(self, body):
        seconds = self.integer(body.get("seconds", "0"))
        self.request_state("Reserved")
        if seconds > 0:
            self.reserved_until = time.monotonic() + seconds
        return {}

    def put(self, path, body):
        if not isinstance(body.get("key"), str) or not isinstance(body.get("value"), str):
            raise Refused(INVALID, "key and value are strings")
        target = self.labels if path.endswith("label") else self.annotations
        target[f"agones.dev/sdk-{body['key']}"] = body["value"]
        return {}

    def counter(self, name):
        if self.counters is False:
            raise Refused(UNIMPLEMENTED, "Method Not Allowed")
        if name not in self.counters:
            raise Refused(NOT_FOUND, f"counter not found: {name}")
        return {"name": name} | {key: str(value) for key, value in self.counters[name].items()}

    def update_counter(self, name, body):
        self.counter(name)
        changed = dict(self.counters[name])
        for key in ("capacity", "count"):
            if key in body:
                changed[key] = self.integer(body[key])
        if changed["capacity"] < 0 or not 0 <= changed["count"] <= changed["capacity"]:
            raise Refused(OUT_OF_RANGE, f"out of range. Count must be within range [0,Capacity]. Found {changed}")
        self.counters[name] = changed
        return self.counter(name)

    def game_server(self):
        counters = {} if self.counters is False else {
            name: {key: str(number) for key, number in value.items()} for name, value in self.counters.items()}
        return {
            "object_meta": {"name": "local", "namespace": "default", "uid": "1234", "resource_version": "1",
                            "generation": "1", "creation_timestamp": "1531795395", "deletion_timestamp": str(self.deletion),
                            "annotations": self.annotations, "labels": self.labels},
            "spec": {"health": {"disabled": self.health_disabled, "period_seconds": self.period,
                                "failure_threshold": self.threshold, "initial_delay_seconds": 10}},
            "status": {"state": self.state, "address": "127.0.0.1", "addresses": [],
                       "ports": [{"name": "default", "port": 7777}], "players": None, "counters": counters, "lists": {}},
        }

    POSTS = {
        "/ready": lambda self, _: self.request_state("Ready"),
        "/allocate": lambda self, _: self.request_state("Allocated"),
        "/shutdown": lambda self, _: self.request_state("Shutdown"),
        "/health": health,
        "/reserve": reserve,
    }


class Handler(BaseHTTPRequestHandler):
    side_car = None
    protocol_version = "HTTP/1.1"

    def handle_one(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        time.sleep(self.side_car.delay)
        status, answer = 200, None
        try:
            answer = self.side_car.answer(self.command, self.path, text)
        except Refused as refused:
            status = refused.status
            answer = {"code": refused.code, "message": refused.message, "details": []}
        words = json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(words)))
            self.end_headers()
            self.wfile.write(words)
        except OSError:
            pass  # who asked has gone

    do_GET = do_POST = do_PUT = do_PATCH = handle_one

    def log_message(self, *_):
        pass
