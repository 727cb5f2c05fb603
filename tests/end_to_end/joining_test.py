"""Who may join, as operators and players meet it: identities, passwords, tickets and bans of real programs."""

import os
import re
import signal
import subprocess
import time
import unittest

from programs_test import BIN, TIME_OUT, Programs


class Joining(Programs):
    def setUp(self):
        super().setUp()
        self.logs = []  # files that the programs' words go to

    def start_logged(self, program, *arguments, before=()):
        """The process and the file of its words, which can be read while it runs. `before`: a command that runs it."""
        log = self.path / f"log-{len(self.logs)}"
        self.logs.append(log)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment["XDG_STATE_HOME"] = str(self.path / "state")
        with log.open("w") as target:
            process = subprocess.Popen([*before, BIN / program, *map(str, arguments)], env=environment, stdout=target,
                                       stderr=subprocess.STDOUT)
        self.processes.append(process)
        return process, log

    def wait_for(self, log, pattern):
        deadline = time.monotonic() + TIME_OUT
        while not (found := re.search(pattern, log.read_text())):
            self.assertLess(time.monotonic(), deadline, f"{pattern} never came in:\n{log.read_text()}")
            time.sleep(0.02)
        return found

    def serve(self, *arguments):
        """The server, its log, its port and its public key."""
        server, log = self.start_logged("shoal-server", "--bind", "127.0.0.1", "--port", 0, "--entities", 50,
                                        "--log-level", "debug", *arguments)
        port = self.wait_for(log, r"listening on 127\.0\.0\.1:(\d+)").group(1)
        return server, log, port, self.wait_for(log, r"server key: ([0-9a-f]{64});").group(1)

    def play(self, port, *arguments):
        """Exit code and words of bots that stay for a second."""
        bots, log = self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 2, "--seconds", 1,
                                      "--log-level", "debug", *arguments)
        return bots.wait(TIME_OUT), log.read_text()

    def ends_with(self, process, code, log):
        self.assertEqual(process.wait(TIME_OUT), code, log.read_text())
        return log.read_text()

    def file(self, name, text, mode=0o600):
        path = self.path / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def matchmaker(self):
        """File and public key."""
        file = self.path / "matchmaker.key"
        code, said = self.finish(self.start("shoal-ticket", "keygen", "--out", file))
        self.assertEqual(code, 0, said)
        return file, said.strip()

    def assert_nowhere(self, *secrets):
        for log in self.logs:
            for secret in secrets:
                self.assertNotIn(secret, log.read_text().lower(), f"a secret is in {log.name}")


class Identity(Joining):
    def test_identity_is_made_once_and_kept(self):
        keys = []
        for _ in range(2):
            server, log, _, key = self.serve()
            keys.append(key)
            server.send_signal(signal.SIGTERM)
            self.ends_with(server, 0, log)
        self.assertEqual(keys[0], keys[1])
        file = self.path / "state" / "shoal" / "server-identity.key"
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertIn("a new identity is kept in", self.logs[0].read_text())
        self.assertNotIn("a new identity is kept in", self.logs[1].read_text())
        self.assert_nowhere(file.read_text().splitlines()[1])

    def test_pinned_key_is_demanded(self):
        _, _, port, key = self.serve()
        code, said = self.play(port, "--server-key", key)
        self.assertEqual(code, 0, said)
        code, said = self.play(port, "--server-key", "ab" * 32)
        self.assertEqual(code, 1)
        self.assertIn("wrong server key", said)
        self.assertIn(key, said)

    def test_identity_that_others_can_read_is_refused(self):
        file = self.file("identity.key", "shoal server identity\n" + "5a" * 32 + "\n", 0o644)
        server, log = self.start_logged("shoal-server", "--identity", file, "--port", 0)
        said = self.ends_with(server, 2, log)
        self.assertIn("0644", said)
        self.assertIn("chmod 600", said)
        self.assert_nowhere("5a" * 32)

    def test_identity_that_cannot_be_read_is_refused_and_not_replaced(self):
        text = "shoal server identity\n" + "5a" * 32 + "\n"
        file = self.file("identity.key", text, 0o000)
        loop = self.path / "loop.key"
        loop.symlink_to(loop)
        # The superuser reads whatever its mode, unless that right is taken away.
        as_others = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        for path, why in ((file, "Permission denied"), (loop, "Too many levels of symbolic links")):
            server, log = self.start_logged("shoal-server", "--identity", path, "--port", 0, before=as_others)
            said = self.ends_with(server, 2, log)
            self.assertIn(f"cannot read the key in {path}: {why}. Another place is said with --identity FILE", said)
            self.assertNotIn("listening", said)
        file.chmod(0o600)
        self.assertEqual(file.read_text(), text)

    def test_identity_of_another_kind_is_refused(self):
        file, _ = self.matchmaker()
        server, log = self.start_logged("shoal-server", "--identity", file, "--port", 0)
        self.assertIn("holds no shoal server identity", self.ends_with(server, 2, log))

    def test_named_identity_that_cannot_be_made_is_refused_and_a_default_one_is_warned_of(self):
        self.file("no-folder", "")
        server, log = self.start_logged("shoal-server", "--identity", self.path / "no-folder" / "key", "--port", 0)
        self.assertIn("--identity", self.ends_with(server, 2, log))
        self.file("state", "")  # where the default's folder would be
        server, log, _, _ = self.serve()
        server.send_signal(signal.SIGTERM)
        self.assertIn("this run has a key of its own", self.ends_with(server, 0, log))


class WhoMayJoin(Joining):
    def test_right_password_joins_and_a_wrong_one_is_refused_on_both_sides(self):
        password = "correct horse battery staple"
        right, wrong = self.file("right", password + "\nnot read\n"), self.file("wrong", "guess of a stranger")
        arguments = ("--join", "password", "--password-file", right)
        _, log, port, key = self.serve(*arguments)
        code, said = self.play(port, "--server-key", key, "--password-file", right)
        self.assertEqual(code, 0, said)
        self.assertNotIn("whoever answers", said)
        for shown in (("--password-file", wrong), ()):
            code, said = self.play(port, *shown)
            self.assertEqual(code, 1)
            self.assertIn("the server wants another password", said)
            self.assertEqual("whoever answers gets the password" in said, bool(shown))
        self.wait_for(log, "refused 127.0.0.1:.*: wrong password")
        self.wait_for(log, "none was given")
        printed, log = self.start_logged("shoal-server", *arguments, "--print-config")
        self.assertIn(str(right), self.ends_with(printed, 0, log))
        identity = self.path / "state" / "shoal" / "server-identity.key"
        self.assert_nowhere(password, "guess of a stranger", identity.read_text().splitlines()[1])

    def test_password_that_others_can_read_is_warned_of(self):
        _, log, _, _ = self.serve("--join", "password", "--password-file", self.file("open", "secret", 0o644))
        self.wait_for(log, "others than its owner may read the password")

    def test_tickets_join_and_only_for_the_server_that_they_name(self):
        file, public = self.matchmaker()
        _, log, port, key = self.serve("--join", "ticket", "--ticket-issuer", public, "--audience", "arena-1")
        code, said = self.play(port, "--server-key", key, "--ticket-key", file, "--audience", "arena-1")
        self.assertEqual(code, 0, said)
        self.wait_for(log, "joined from .* as [0-9a-f]{32}, bot-")
        code, said = self.play(port, "--ticket-key", file, "--audience", "arena-2")
        self.assertEqual(code, 1)
        self.assertIn("made for another server", said)
        code, said = self.play(port)
        self.assertEqual(code, 1)
        self.assertIn("ticket of its matchmaker", said)
        self.wait_for(log, "ticket foreign: made for 'arena-2', this is 'arena-1'")
        self.wait_for(log, "ticket required")
        self.assert_nowhere(file.read_text().splitlines()[1])

    def test_tickets_without_audience_are_for_the_servers_key(self):
        file, public = self.matchmaker()
        _, _, port, key = self.serve("--join", "ticket", "--ticket-issuer", public)
        code, said = self.play(port, "--server-key", key, "--ticket-key", file)
        self.assertEqual(code, 0, said)

    def test_ban_list_read_again_sends_a_player_away(self):
        bans = self.file("bans", "# nobody yet\n")
        server, log, port, _ = self.serve("--ban-list", bans)
        bots, bots_log = self.start_logged("shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", 1)
        player = self.wait_for(log, r"player 1 joined from \S+ as ([0-9a-f]{32})").group(1)
        bans.write_text(f"player {player}\nnonsense\n")
        server.send_signal(signal.SIGHUP)
        self.wait_for(log, "line 2: 'nonsense' is neither .*; the bans stay as they are")
        self.assertIsNone(bots.poll(), "a faulty list changes nothing")
        bans.write_text(f"player {player}  # spoils the game\n")
        server.send_signal(signal.SIGHUP)
        self.wait_for(log, "ban list read again: 1 entries")
        said = self.ends_with(bots, 1, bots_log)
        self.assertIn("kicked", said)
        self.assertIn("banned", said)
        bans.write_text("127.0.0.0/8\n")
        server.send_signal(signal.SIGHUP)
        self.wait_for(log, "(?s)read again.*read again")
        code, said = self.play(port)
        self.assertEqual(code, 1)
        self.assertIn("the server's ban list", said)
        self.assertIsNone(server.poll())

    def test_faulty_ban_list_stops_the_start(self):
        server, log = self.start_logged("shoal-server", "--port", 0, "--ban-list", self.file("bans", "10.0.0.0/33\n"))
        self.assertIn("line 1", self.ends_with(server, 2, log))

    def test_contradictions_say_what_to_do(self):
        password = self.file("password", "secret")
        for arguments, remedy in ((("--join", "password"), "--join password needs --password-file"),
                                  (("--join", "ticket"), "--join ticket needs --ticket-issuer"),
                                  (("--password-file", password), "without --join password"),
                                  (("--audience", "arena"), "without --join ticket"),
                                  (("--join", "ticket", "--ticket-issuer", "12"), "64 hexadecimal digits"),
                                  (("--exempt-addresses", "10.0.0.0/8,home"), "'home' is neither"),
                                  (("--join", "password", "--password-file", self.path), "Is a directory")):
            server, log = self.start_logged("shoal-server", "--port", 0, *arguments)
            self.assertIn(remedy, self.ends_with(server, 2, log))
        for arguments, remedy in ((("--server-key", "12"), "64 hexadecimal digits"),
                                  (("--ticket-key", "k"), "--audience"),
                                  (("--audience", "a"), "without --ticket-key"),
                                  (("--ticket-key", "k", "--password-file", "p"), "contradict"),
                                  (("--ticket-key", self.path / "no", "--audience", "a"), "cannot read the key")):
            bots, log = self.start_logged("shoal-bots", *arguments)
            self.assertIn(remedy, self.ends_with(bots, 2, log))


class TicketTool(Joining):
    def tool(self, *arguments):
        return self.finish(self.start("shoal-ticket", *arguments))

    def test_ticket_is_minted_and_shown(self):
        file, public = self.matchmaker()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertRegex(public, r"\A[0-9a-f]{64}\Z")
        self.assertEqual(self.tool("public", "--key", file), (0, public + "\n"))
        code, ticket = self.tool("mint", "--key", file, "--player", "ann", "--audience", "arena-1")
        self.assertEqual(code, 0, ticket)
        self.assertRegex(ticket, r"\A[0-9A-Za-z_-]+\n\Z")
        code, said = self.tool("show", ticket.strip(), "--issuer", public)
        self.assertEqual(code, 0, said)
        for line in (r"player +ann", r"audience +arena-1", r"time +good", r"signature +good"):
            self.assertRegex(said, line)
        code, said = self.tool("show", ticket.strip(), "--issuer", "ab" * 32)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"signature +not good")
        self.assertNotIn(file.read_text().splitlines()[1], said)

    def test_ticket_that_is_over_is_called_so(self):
        file, public = self.matchmaker()
        _, ticket = self.tool("mint", "--key", file, "--player", "ann", "--audience", "a", "--valid", 1)
        time.sleep(2.1)
        code, said = self.tool("show", ticket.strip(), "--issuer", public)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"time +not good now")

    def test_mistakes_say_what_to_do(self):
        file, _ = self.matchmaker()
        before = file.read_text()
        for arguments, remedy in ((("keygen", "--out", file), "File exists"), (("keygen",), "--out"),
                                  (("mint", "--key", file), "--player"), (("show",), "shoal-ticket show TICKET"),
                                  (("show", "U0hUMQ"), "a part of one is missing"), (("grant",), "no command grant"),
                                  ((), "Usage"), (("mint", "--key", self.path / "no", "--player", "a", "--audience", "b"),
                                                  "cannot read the key")):
            code, said = self.tool(*arguments)
            self.assertEqual(code, 2, said)
            self.assertIn(remedy, said)
        self.assertEqual(file.read_text(), before)

    def test_help_shows_every_command_and_its_options(self):
        code, said = self.tool("--help")
        self.assertEqual(code, 0)
        for command in ("keygen", "public", "mint", "show"):
            self.assertIn(f"\n  {command} ", said)
            code, help_of_command = self.tool(command, "--help")
            self.assertEqual(code, 0)
            self.assertIn(f"shoal-ticket {command}", help_of_command)


if __name__ == "__main__":
    unittest.main()
