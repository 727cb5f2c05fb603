"""shoal-server --health, as a container engine calls it: beside a real server, by its exit code."""

import signal
import socket
import threading
import time
import unittest

from joining_test import Joining
from programs_test import TIME_OUT


class Health(Joining):
    def health(self, *arguments, variables=None):
        """Exit code and words of one check."""
        return self.finish(self.start("shoal-server", "--health", *arguments, variables=variables))

    def health_of(self, port):
        return self.health("--port", port)

    def wait_for_health(self, port, code):
        deadline = time.monotonic() + TIME_OUT
        while (answer := self.health_of(port))[0] != code:
            self.assertLess(time.monotonic(), deadline, answer)

    def test_stopped_server_is_unhealthy_until_it_goes_on(self):
        server, port = self.start_server("--entities", 50)
        code, said = self.health_of(port)
        self.assertEqual((code, said), (0, f"healthy: 127.0.0.1:{port} answers\n"))
        server.send_signal(signal.SIGSTOP)
        code, said = self.health_of(port)
        self.assertEqual(code, 1)
        self.assertIn("its tick is stuck", said)
        self.assertEqual(said.count("\n"), 1, said)
        server.send_signal(signal.SIGCONT)
        self.wait_for_health(port, 0)

    def test_nobody_on_the_port_is_unhealthy(self):
        server, port = self.start_server("--entities", 50)
        server.kill()
        server.wait(TIME_OUT)
        code, said = self.health_of(port)
        self.assertEqual(code, 1)
        self.assertIn(f"nobody listens on 127.0.0.1:{port}", said)

    def test_another_service_on_the_port_is_unhealthy(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as echo:
            echo.bind(("127.0.0.1", 0))
            echo.settimeout(TIME_OUT)

            def answer():
                try:
                    while True:
                        words, peer = echo.recvfrom(2000)
                        if not words:
                            return
                        echo.sendto(words, peer)
                except OSError:
                    return

            thread = threading.Thread(target=answer)
            thread.start()
            code, said = self.health_of(echo.getsockname()[1])
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
                end.sendto(b"", echo.getsockname())
            thread.join()
        self.assertEqual(code, 1)
        self.assertIn("no server of shoal", said)

    def test_full_server_is_healthy(self):
        _, log, port, _ = self.serve("--max-players", 1)
        self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 1)
        self.wait_for(log, "player 1 joined")
        code, said = self.play(port)
        self.assertEqual(code, 1, said)
        self.assertIn("no free session", said)
        self.assertEqual(self.health_of(port)[0], 0)

    def test_server_that_chose_its_port_is_found_by_its_port_file(self):
        _, port = self.start_server("--entities", 50)
        code, said = self.health("--port", 0, "--port-file", self.path / "port")
        self.assertEqual(code, 0, said)
        self.assertIn(f":{port} ", said)
        code, said = self.health("--port", 0)
        self.assertEqual(code, 1)
        self.assertIn("--port-file", said)

    def test_environment_and_configuration_say_what_is_asked(self):
        _, port = self.start_server("--entities", 50)
        code, said = self.health(variables={"SHOAL_PORT": str(port)})
        self.assertEqual(code, 0, said)
        config = self.path / "shoal.toml"
        config.write_text(f"[network]\nport = {port}\n")
        code, said = self.health("--config", config)
        self.assertEqual(code, 0, said)
        config.write_text("[network]\nport = 'x'\n")
        self.assertEqual(self.health("--config", config)[0], 2)


if __name__ == "__main__":
    unittest.main()
