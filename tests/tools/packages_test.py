"""scripts/lib.sh installs what is missing, says what, and asks nobody's permission but sudo's.

dpkg-query, apt-get and sudo are stand-ins here that write down how they were called.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAND_INS = {
    # The last argument is the package; `present` lists those that are installed.
    "dpkg-query": 'grep -qxF -- "${@: -1}" "$(dirname "$0")/present" && printf installed',
    "apt-get": 'echo "apt-get $*" >>"$(dirname "$0")/calls"; [[ ! -e "$(dirname "$0")/fails" ]]',
    "sudo": 'echo "sudo $*" >>"$(dirname "$0")/calls"; exec "$@"',
}


class EnsurePackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scripts, self.programs = self.folder / "scripts", self.folder / "programs"
        self.scripts.mkdir()
        self.programs.mkdir()
        for name in ("lib.sh", "packages.txt"):
            shutil.copy(ROOT / "scripts" / name, self.scripts / name)
        for name, body in STAND_INS.items():
            (self.programs / name).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
            (self.programs / name).chmod(0o755)
        (self.programs / "calls").touch()
        self.present("g++", "cmake")

    def present(self, *names):
        (self.programs / "present").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")

    def tier(self, name):
        lines = (self.scripts / "packages.txt").read_text(encoding="utf-8").splitlines()
        return [line.split()[1] for line in lines if line.split()[0] == name]

    def ensure(self, arguments, as_user=None):
        if as_user is not None:
            self.folder.chmod(0o755)
            (self.programs / "calls").chmod(0o666)
        script = f'set -euo pipefail; source "{self.scripts}/lib.sh"; ensure_packages {arguments}; echo done'
        return subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, user=as_user, cwd="/",
                              env={"PATH": f"{self.programs}:/usr/bin:/bin"}, check=False)

    def calls(self):
        return (self.programs / "calls").read_text(encoding="utf-8").splitlines()

    def test_nothing_is_done_when_all_is_there(self):
        self.present(*self.tier("run"))
        outcome = self.ensure("run")
        self.assertEqual((outcome.returncode, outcome.stderr, self.calls()), (0, "", []))

    def test_missing_packages_are_said_and_installed(self):
        outcome = self.ensure("run")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        missing = [name for name in self.tier("run") if name not in ("g++", "cmake")]
        self.assertIn(f"Missing packages: {' '.join(missing)}\n", outcome.stderr)
        self.assertTrue(self.calls()[-1].endswith(" ".join(missing)), self.calls())

    def test_higher_tier_holds_the_lower_one(self):
        self.present()
        outcome = self.ensure("test --no-install")
        for name in self.tier("run") + self.tier("test"):
            self.assertIn(f" {name}", outcome.stderr)
        self.assertNotIn(self.tier("all")[0], outcome.stderr.split())

    def test_no_install_only_says_how(self):
        outcome = self.ensure("run --no-install")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("--no-install forbids to install them. By hand: apt-get install ninja-build", outcome.stderr)
        self.assertEqual((outcome.stdout, self.calls()), ("", []))

    def test_apt_that_fails_ends_the_script(self):
        (self.programs / "fails").touch()
        outcome = self.ensure("run")
        self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
        self.assertIn("apt-get update failed", outcome.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become nobody")
    def test_sudo_when_not_root(self):
        outcome = self.ensure("run", as_user=65534)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue(any(call.startswith("sudo env DEBIAN_FRONTEND=noninteractive apt-get install") for call in self.calls()))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become nobody")
    def test_no_sudo_and_not_root_says_how(self):
        (self.programs / "sudo").unlink()
        outcome = self.ensure("run", as_user=65534)
        if shutil.which("sudo", path="/usr/bin:/bin"):
            self.skipTest("this machine has a sudo of its own")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("not root and no sudo. By hand, as root: apt-get install", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
