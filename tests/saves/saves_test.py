"""Saved worlds of real servers: killed at any moment, on bad disks, with bad saves.

Started by ctest with SHOAL_BIN, the folder of a build with faults, in the environment. SHOAL_KILLS: how often the loop of
kills goes round.
"""

import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "conformance"))
from xxh3 import xxh3_64  # noqa: E402

BIN = Path(os.environ["SHOAL_BIN"])
TIME_OUT = 60
TICK_RATE = 30
INTERVAL = 0.2


class Server:
    """A process, and what it said so far."""

    def __init__(self, test, *arguments, fault="", limit_bytes=None):
        self.test = test
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
        environment["XDG_STATE_HOME"] = str(test.path / "state")
        environment["SHOAL_FAULT"] = fault
        command = [BIN / "shoal-server", "--bind", "127.0.0.1", "--port", 0, "--tick-rate", TICK_RATE, "--log-level",
                   "debug", "--save-dir", test.saves, *arguments]

        def limit():
            if limit_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

        self.process = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        test.addCleanup(self.end)
        self.lines = []
        self.changed = threading.Condition()
        self.is_over = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def said(self):
        with self.changed:
            return "".join(self.lines)

    def wait_for(self, pattern, count=1):
        """The matches, once there are so many."""
        def found():
            return list(re.finditer(pattern, "".join(self.lines)))
        with self.changed:
            self.changed.wait_for(lambda: len(found()) >= count or self.is_over, TIME_OUT)
            self.test.assertGreaterEqual(len(found()), count, f"{pattern} in:\n{''.join(self.lines)}")
            return found()

    def finish(self):
        code = self.process.wait(TIME_OUT)
        self.reader.join(TIME_OUT)
        return code, self.said()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.finish()

    def kill(self):
        self.process.kill()
        self.finish()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


class Saves(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.saves = self.path / "saves"

    def start(self, *arguments, **more):
        return Server(self, "--entities", 200, "--save-interval", INTERVAL, *arguments, **more)

    def names(self, pattern="*.image"):
        return sorted(file.name for file in self.saves.glob(pattern))

    def resumed_tick(self, server):
        return int(server.wait_for(r"the world goes on from \S+: tick (\d+), (\d+) entities")[0][1])

    def some_saves(self, count=3):
        """So many saves by a server that has ended; the tick of the newest."""
        server = self.start()
        server.wait_for("saved tick", count)
        code, said = server.stop()
        self.assertEqual(code, 0, said)
        return self.newest_saved(said)

    @staticmethod
    def newest_saved(said):
        return int(re.findall(r"saved tick (\d+)", said)[-1])


class Restart(Saves):
    def test_sigterm_saves_and_the_next_start_goes_on(self):
        server = self.start("--save-interval", 0)
        server.wait_for("listening")
        time.sleep(0.5)
        self.assertEqual(self.names(), [])
        code, said = server.stop()
        self.assertEqual(code, 0, said)
        tick = self.newest_saved(said)
        self.assertGreater(tick, 5)
        again = self.start()
        self.assertEqual(self.resumed_tick(again), tick)
        self.assertEqual(again.stop(signal.SIGINT)[0], 0)

    def test_saved_seed_and_population_win(self):
        self.some_saves()
        again = self.start("--entities", 77, "--seed", 5)
        again.wait_for("--entities 77 has no effect: the saved world has 200")
        again.wait_for("--seed 5 has no effect: the saved world has 1")
        entities = int(again.wait_for(r"goes on from \S+: tick \d+, (\d+) entities")[0][1])
        self.assertGreater(entities, 180)

    def test_newest_are_kept(self):
        server = self.start("--save-keep", 2)
        server.wait_for("saved tick", 6)
        self.assertEqual(server.stop()[0], 0)
        self.assertEqual(len(self.names()), 2)
        self.assertEqual(self.names("*.part"), [])
        numbers = [int(re.search(r"\d+", name)[0]) for name in self.names()]
        self.assertGreaterEqual(numbers[0], 5)

    def server_with_three_players(self):
        """Killed after it saved them. The port where it was, and the bots, which look for it."""
        server = self.start("--entities", 50, "--port-file", self.path / "port")
        port = self.port()
        bots = subprocess.Popen([BIN / "shoal-bots", "--server", f"127.0.0.1:{port}", "--bots", "3"],
                                env={**os.environ, "SHOAL_FAULT": ""}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(bots.wait)
        self.addCleanup(bots.kill)
        server.wait_for(r"player \d+ joined from", 3)
        server.wait_for("saved tick", len(re.findall("saved tick", server.said())) + 3)
        server.kill()
        self.assertEqual(self.saved_players(), 3)
        return port, bots

    def saved_players(self):
        table = subprocess.run([BIN / "shoal-image", "--image", self.saves / self.names()[-1]], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        row = re.search(r"^shoal\.demo\.Player +fields +\d+ +(\d+)", table, re.MULTILINE)
        return int(row[1]) if row else 0

    def test_players_come_back_to_their_entities_after_a_kill(self):
        port, _ = self.server_with_three_players()
        again = self.start("--port", port, "--return-time", TIME_OUT)
        again.wait_for("is back from", 3)
        self.assertNotRegex(again.said(), r"player \d+ joined from")
        again.wait_for("saved tick", len(re.findall("saved tick", again.said())) + 2)
        again.kill()
        self.assertEqual(self.saved_players(), 3)

    def test_players_who_do_not_come_back_are_given_up(self):
        _, bots = self.server_with_three_players()
        bots.kill()
        again = self.start("--return-time", 0.5)
        tick = self.resumed_tick(again)
        while self.newest_saved(again.wait_for("saved tick .*")[-1].string) < tick + TICK_RATE:
            again.wait_for("saved tick", len(re.findall("saved tick", again.said())) + 1)
        self.assertEqual(again.stop()[0], 0)
        self.assertEqual(self.saved_players(), 0)

    def port(self):
        file = self.path / "port"
        deadline = time.monotonic() + TIME_OUT
        while not (file.exists() and file.read_text().endswith("\n")):
            self.assertLess(time.monotonic(), deadline, "the server does not come up")
            time.sleep(0.02)
        return int(file.read_text())


class Crash(Saves):
    def test_killed_at_any_moment_only_the_interval_is_lost(self):
        generator = random.Random(1)
        kills = int(os.environ.get("SHOAL_KILLS", "12"))
        newest = None
        for round_number in range(kills):
            server = self.start("--entities", 3000, "--save-interval", 0.05, "--save-keep", 3)
            if newest is not None:
                # What was told is there, and perhaps one more, that was finished and could not be told any more.
                self.assertGreaterEqual(self.resumed_tick(server), newest, f"after kill {round_number}")
            server.wait_for("saved tick", generator.randint(1, 8))
            time.sleep(generator.random() * 0.08)
            server.kill()
            said = server.said()
            self.assertNotIn("damaged", said)
            newest = self.newest_saved(said)
            self.assertLessEqual(len(self.names("*.part")), 1)
            self.assertLessEqual(len(self.names()), 4)
        server = self.start()
        self.assertGreaterEqual(self.resumed_tick(server), newest)
        self.assertEqual(server.stop()[0], 0)
        self.assertEqual(self.names("*.part"), [])
        self.assertEqual(self.names("*.damaged"), [])

    def test_saves_are_an_interval_of_ticks_apart(self):
        """So no more is lost. Where the machine is slow there are fewer ticks, never more but for those made up for."""
        server = self.start("--save-interval", 0.5)
        ticks = [int(match[1]) for match in server.wait_for(r"saved tick (\d+)", 5)]
        server.kill()
        apart = sorted(after - before for before, after in zip(ticks, ticks[1:]))
        self.assertLessEqual(apart[len(apart) // 2], 0.5 * TICK_RATE + 4)
        newest = self.newest_saved(server.said())
        self.assertLessEqual(newest, self.resumed_tick(self.start()))

    def test_crash_at_each_step_of_a_save_leaves_a_world(self):
        for step, is_there in (("after-create", False), ("mid-write", False), ("before-sync", False),
                               ("before-rename", False), ("after-rename", True)):
            with self.subTest(step=step):
                before = self.some_saves()
                names = self.names()
                server = self.start("--save-keep", len(names), fault=f"save-crash-{step}")
                code, said = server.finish()
                self.assertEqual(code, -signal.SIGKILL, said)
                self.assertEqual([name for name in self.names() if name in names], names, "no old one is gone")
                self.assertEqual(len(self.names("*.part")), 0 if is_there else 1)
                again = self.start()
                tick = self.resumed_tick(again)
                if is_there:
                    self.assertGreater(tick, before)
                else:
                    self.assertEqual(tick, before)
                self.assertEqual(self.names("*.part"), [])
                self.assertEqual(again.stop()[0], 0)


class BadDisk(Saves):
    def expect_world_goes_on(self, server, complaint):
        """It said why, twice, and still ticks; what was saved before is there."""
        before = self.names()
        server.wait_for(f"was not saved: .*{complaint}.*the world goes on")
        self.assertIsNone(server.process.poll())
        self.assertEqual([name for name in before if name not in self.names()], [])
        self.assertEqual(self.names("*.part"), [])

    def test_full_disk(self):
        if os.geteuid() != 0:
            self.skipTest("only root may mount a small disk; test_limit_of_file_sizes is there for others")
        self.saves.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", self.saves], check=False)
        if mounted.returncode != 0:
            self.skipTest("this container may not mount")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.saves], check=True))
        server = self.start("--save-keep", 3)
        server.wait_for("saved tick", 2)
        filler = self.saves / "filler"
        try:
            with filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
        self.expect_world_goes_on(server, "No space left on device: make room")
        filler.unlink()
        count = len(re.findall("saved tick", server.said()))
        server.wait_for("saved tick", count + 2)
        code, said = server.stop()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.resumed_tick(self.start()), self.newest_saved(said))

    def test_failure_that_goes_on_is_said_once_a_minute(self):
        server = self.start("--save-interval", 0.05, fault="save-disk-full")
        server.wait_for("was not saved")
        time.sleep(1)
        self.assertEqual(len(re.findall("was not saved", server.said())), 1)

    def test_end_that_cannot_be_saved_is_no_success(self):
        self.some_saves()
        names = self.names()
        server = self.start("--save-interval", 0, fault="save-disk-full")
        server.wait_for("listening")
        code, said = server.stop()
        self.assertEqual(code, 4, said)
        self.assertIn("make room", said)
        self.assertEqual(self.names(), names)

    def test_limit_of_file_sizes(self):
        tick = self.some_saves()
        server = self.start(limit_bytes=4096)
        self.expect_world_goes_on(server, "ulimit")
        self.assertEqual(server.stop()[0], 4)
        self.assertEqual(self.resumed_tick(self.start()), tick)

    def test_disk_that_fails(self):
        for fault in ("save-sync-fails", "save-rename-fails"):
            with self.subTest(fault=fault):
                tick = self.some_saves()
                server = self.start(fault=fault)
                self.expect_world_goes_on(server, "the disk fails")
                server.kill()
                again = self.start()
                self.assertEqual(self.resumed_tick(again), tick)
                again.kill()
        with self.subTest(fault="save-folder-sync-fails"):
            self.some_saves()
            server = self.start(fault="save-folder-sync-fails")
            self.expect_world_goes_on(server, "the disk fails")
            server.kill()
            # Such a save is whole; whether it would outlive a loss of power is not known.
            self.resumed_tick(self.start())

    def test_folder_that_vanishes_and_comes_back(self):
        server = self.start()
        server.wait_for("saved tick")
        self.saves.rename(self.path / "away")
        server.wait_for("was not saved: .*the folder is gone")
        (self.path / "away").rename(self.saves)
        count = len(re.findall("saved tick", server.said()))
        server.wait_for("saved tick", count + 1)
        code, said = server.stop()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.resumed_tick(self.start()), self.newest_saved(said))

    def test_folder_that_becomes_read_only(self):
        if os.geteuid() != 0:
            self.skipTest("only root may mount")
        self.saves.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.saves], check=False).returncode != 0:
            self.skipTest("this container may not mount")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.saves], check=True))
        self.some_saves()
        subprocess.run(["mount", "-o", "remount,ro", self.saves], check=True)
        code, said = self.start().finish()
        self.assertEqual(code, 2, said)
        self.assertIn("--save-dir: cannot save into", said)
        self.assertIn("mount it so that it can be written", said)


class BadSaves(Saves):
    def newest(self):
        return self.saves / self.names()[-1]

    def test_damaged_newest_is_set_aside_and_the_one_before_is_used(self):
        def cut(data):
            return data[:len(data) // 2]

        def flip(data):
            return data[:5000] + bytes([data[5000] ^ 16]) + data[5001:]

        for kind, damage in (("cut", cut), ("flipped", flip), ("empty", lambda data: b""),
                             ("garbage", lambda data: bytes(i * 37 % 251 for i in range(5000)))):
            with self.subTest(kind=kind):
                newest_tick = self.some_saves()
                newest = self.newest()
                newest.write_bytes(damage(newest.read_bytes()))
                server = self.start()
                self.assertLess(self.resumed_tick(server), newest_tick)
                self.assertIn(f"{newest.name} is damaged and was set aside as {newest.name}.damaged", server.said())
                self.assertTrue(Path(f"{newest}.damaged").exists())
                self.assertFalse(newest.exists())
                self.assertEqual(server.stop()[0], 0)
        self.assertEqual(len(self.names("*.damaged")), 4, "they stay for who wants to look")

    def test_no_save_that_can_be_read_is_no_start(self):
        self.some_saves()
        names = self.names()
        for name in names:
            (self.saves / name).write_bytes(b"shoal")
        code, said = self.start().finish()
        self.assertEqual(code, 2, said)
        for part in ("none of the saves", "put back a good copy", *names):
            self.assertIn(part, said)
        self.assertEqual(self.names(), names)

    def test_save_of_a_newer_format_is_refused_by_the_name_of_its_writer_and_kept(self):
        self.some_saves()
        names = self.names()
        image = bytearray(self.newest().read_bytes())
        struct.pack_into("<Q", image, 8, 2)
        struct.pack_into("<Q", image, 24, xxh3_64(bytes(image[:24] + image[32:])))
        self.newest().write_bytes(image)
        code, said = self.start().finish()
        self.assertEqual(code, 2, said)
        self.assertRegex(said, "the image has format 2, this program knows 1")
        self.assertRegex(said, r"\(shoal-server [\d.]+ wrote it, this is shoal-server [\d.]+: start the program that wrote it")
        self.assertEqual(self.names(), names)
        self.assertEqual(self.newest().read_bytes(), bytes(image))

    def test_save_of_another_schema_is_refused_and_kept(self):
        self.some_saves()
        names = self.names()
        # A whole image of another game: examples/save_load.cpp makes one.
        subprocess.run([BIN / "save_load", self.newest()], stdout=subprocess.DEVNULL, check=True)
        before = self.newest().read_bytes()
        code, said = self.start().finish()
        self.assertEqual(code, 2, said)
        for part in ("cannot be used", "Nothing was changed", self.newest().name):
            self.assertIn(part, said)
        self.assertEqual(self.names(), names)
        self.assertEqual(self.newest().read_bytes(), before)

    def test_older_save_is_gone_on_from_when_the_newer_ones_are_moved_away(self):
        self.some_saves(4)
        newest, older = self.names()[-1], self.names()[-2]
        (self.saves / newest).rename(self.path / newest)
        server = self.start()
        server.wait_for(f"the world goes on from \\S+/{older}")
        server.wait_for("saved tick")
        self.assertEqual(server.stop()[0], 0)


class Options(Saves):
    def test_without_a_folder_nothing_is_saved(self):
        server = self.start("--save-dir", "")
        server.wait_for("listening")
        code, said = server.stop()
        self.assertEqual(code, 0, said)
        self.assertNotIn("saved", said)

    def test_two_servers_do_not_share_a_folder(self):
        one = self.start()
        one.wait_for("listening")
        code, said = self.start().finish()
        self.assertEqual(code, 2, said)
        self.assertIn("another server saves there", said)
        self.assertEqual(one.stop()[0], 0)
        again = self.start()
        again.wait_for("the world goes on")

    def test_folder_that_cannot_be_written_is_no_start(self):
        file = self.path / "file"
        file.write_text("no folder")
        code, said = self.start("--save-dir", file / "below").finish()
        self.assertEqual(code, 2, said)
        self.assertIn("--save-dir", said)
        code, said = self.start("--save-dir", file).finish()
        self.assertEqual(code, 2, said)
        code, said = self.start("--save-dir", "/proc/shoal").finish()
        self.assertEqual(code, 2, said)
        self.assertIn("--save-dir /proc/shoal", said)

    def test_wrong_numbers_are_refused(self):
        for option, value in (("--save-keep", 0), ("--save-interval", -1), ("--save-interval", "often")):
            code, said = self.start(option, value).finish()
            self.assertEqual(code, 2, said)
            self.assertIn(option.removeprefix("--"), said)


if __name__ == "__main__":
    unittest.main()
