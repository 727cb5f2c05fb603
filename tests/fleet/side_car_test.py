"""The stand-in for Agones' side-car refuses what the real one refuses: else the tests that use it prove nothing."""

import json
import time
import unittest
import urllib.error
import urllib.request

from side_car import SideCar


class StandIn(unittest.TestCase):
    def side_car(self, **options):
        side_car = SideCar(**options)
        self.addCleanup(side_car.close)
        return side_car

    def call(self, side_car, method, path, body=None):
        """Status and answer."""
        data = None if body is None else body.encode()
        request = urllib.request.Request(f"http://127.0.0.1:{side_car.port}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def test_empty_and_broken_bodies_are_refused(self):
        side_car = self.side_car()
        for path in ("/health", "/ready", "/allocate", "/shutdown", "/reserve"):
            for body in (None, "", "{", "[]", "health"):
                status, answer = self.call(side_car, "POST", path, body)
                self.assertEqual((status, answer["code"], set(answer)), (400, 3, {"code", "message", "details"}), (path, body))
        self.assertEqual(side_car.now_in(), "Scheduled")

    def test_states_follow_the_calls(self):
        side_car = self.side_car()
        for path, state in (("/ready", "Ready"), ("/allocate", "Allocated"), ("/reserve", "Reserved"), ("/shutdown", "Shutdown"),
                            ("/ready", "Shutdown")):
            self.assertEqual(self.call(side_car, "POST", path, "{}"), (200, {}))
            self.assertEqual(self.call(side_car, "GET", "/gameserver")[1]["status"]["state"], state)

    def test_unknown_paths_and_methods_are_refused(self):
        side_car = self.side_car()
        for method, path in (("POST", "/Ready"), ("POST", "/unhealthy"), ("GET", "/ready"), ("PUT", "/metadata/labels"),
                             ("POST", "/gameserver")):
            self.assertEqual(self.call(side_car, method, path, "{}" if method != "GET" else None)[0], 404, path)

    def test_reserved_becomes_ready_again_and_wrong_times_are_refused(self):
        side_car = self.side_car()
        for seconds in ('"soon"', "1.5", "true", "null"):
            self.assertEqual(self.call(side_car, "POST", "/reserve", f'{{"seconds":{seconds}}}')[0], 400, seconds)
        self.call(side_car, "POST", "/reserve", '{"seconds":"1"}')
        self.assertEqual(side_car.now_in(), "Reserved")
        deadline = time.monotonic() + 30
        while side_car.now_in() != "Ready":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_health_that_is_late_is_unhealthy_for_good(self):
        side_car = self.side_car(period_seconds=0.05, failure_threshold=1)
        self.call(side_car, "POST", "/ready", "{}")
        self.call(side_car, "POST", "/health", "{}")
        time.sleep(0.2)
        for path in ("/health", "/ready", "/allocate"):
            self.call(side_car, "POST", path, "{}")
            self.assertEqual(side_car.now_in(), "Unhealthy")

    def test_counters_are_known_by_name_and_within_their_capacity(self):
        side_car = self.side_car(counters={"players": {"count": 0, "capacity": 4}})
        change = '{"count":"%s","capacity":"%s"}'
        self.assertEqual(self.call(side_car, "PATCH", "/v1beta1/counters/players", change % (3, 8)),
                         (200, {"name": "players", "count": "3", "capacity": "8"}))
        for body, code in ((change % (9, 8), 11), (change % (-1, 8), 11), (change % ("many", 8), 3)):
            status, answer = self.call(side_car, "PATCH", "/v1beta1/counters/players", body)
            self.assertEqual((status, answer["code"]), (400, code), body)
        self.assertEqual(self.call(side_car, "PATCH", "/v1beta1/counters/rooms", change % (1, 2))[0], 404)
        self.assertEqual(self.call(self.side_car(counters=False), "PATCH", "/v1beta1/counters/players", change % (1, 2))[0], 501)

    def test_metadata_is_kept_under_the_prefix_and_is_text(self):
        side_car = self.side_car()
        self.assertEqual(self.call(side_car, "PUT", "/metadata/label", '{"key":"a","value":"b","more":1}')[0], 200)
        self.assertEqual(side_car.labels, {"agones.dev/sdk-a": "b"})
        self.assertEqual(self.call(side_car, "PUT", "/metadata/label", '{"key":"a","value":3}')[0], 400)


if __name__ == "__main__":
    unittest.main()
