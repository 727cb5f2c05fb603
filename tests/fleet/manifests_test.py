"""The files of docker/agones name what is there: ports, variables, users, counters, labels of server and image."""

import json
import os
import re
import subprocess
import tomllib
import unittest
from pathlib import Path

import yaml

BIN = Path(os.environ["SHOAL_BIN"])
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docker" / "agones"


def load(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fleet = load("fleet.yaml")
        cls.game_server = cls.fleet["spec"]["template"]["spec"]
        cls.pod = cls.game_server["template"]["spec"]
        cls.container = cls.pod["containers"][0]
        cls.variables = {entry["name"]: entry["value"] for entry in cls.container["env"]}
        cls.dockerfile = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")

    def config(self, variables):
        """What the server makes of the environment: {option: value}."""
        shown = subprocess.run([BIN / "shoal-server", "--print-config"], env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        sections = tomllib.loads(shown.stdout)
        return {key: value for section in sections.values() for key, value in section.items()}

    def test_kinds_and_versions(self):
        for name, kind, version in (("fleet.yaml", "Fleet", "agones.dev/v1"),
                                    ("autoscaler.yaml", "FleetAutoscaler", "autoscaling.agones.dev/v1"),
                                    ("autoscaler-by-players.yaml", "FleetAutoscaler", "autoscaling.agones.dev/v1"),
                                    ("allocation.yaml", "GameServerAllocation", "allocation.agones.dev/v1"),
                                    ("kustomization.yaml", "Kustomization", "kustomize.config.k8s.io/v1beta1")):
            document = load(name)
            self.assertEqual((document["kind"], document["apiVersion"]), (kind, version), name)

    def test_every_variable_is_an_option_that_takes_the_value(self):
        unset, as_set = self.config({}), self.config(self.variables)
        for name, value in self.variables.items():
            self.assertIsInstance(value, str, f"{name}: a variable is text")
            option = name.removeprefix("SHOAL_").lower()
            self.assertIn(option, unset, f"{name} is no option of shoal-server")
            self.assertEqual(str(as_set[option]).removesuffix(".0"), value)

    def test_one_port_from_the_image_to_the_server(self):
        exposed = re.search(r"^EXPOSE (\d+)/udp$", self.dockerfile, re.MULTILINE).group(1)
        (port,), (container_port,) = self.game_server["ports"], self.container["ports"]
        self.assertEqual((port["protocol"], port["portPolicy"], port["container"]), ("UDP", "Dynamic", self.container["name"]))
        self.assertEqual(container_port["protocol"], "UDP")
        self.assertEqual({str(port["containerPort"]), str(container_port["containerPort"]), exposed, self.variables["SHOAL_PORT"],
                          str(self.config({})["port"])}, {exposed})

    def test_capacity_is_the_servers(self):
        (name, counter), = self.game_server["counters"].items()
        self.assertEqual(str(counter["capacity"]), self.variables["SHOAL_MAX_PLAYERS"])
        plan = (ROOT / "server" / "fleet" / "agones_plan.hpp").read_text(encoding="utf-8")
        self.assertIn(f'kPlayersCounter = "{name}"', plan)
        by_players = load("autoscaler-by-players.yaml")["spec"]["policy"]
        self.assertEqual((by_players["type"], by_players["counter"]["key"]), ("Counter", name))
        for capacity in ("bufferSize", "minCapacity", "maxCapacity"):
            self.assertEqual(by_players["counter"][capacity] % counter["capacity"], 0, "whole worlds")
        allocation = load("allocation.yaml")["spec"]
        for selector in allocation["selectors"]:
            self.assertEqual(list(selector["counters"]), [name])
        self.assertEqual([priority["key"] for priority in allocation["priorities"]], [name])

    def test_names_of_fleet_and_labels_agree(self):
        fleet = self.fleet["metadata"]["name"]
        for name in ("autoscaler.yaml", "autoscaler-by-players.yaml"):
            self.assertEqual(load(name)["spec"]["fleetName"], fleet, name)
        allocation = load("allocation.yaml")
        self.assertIn("generateName", allocation["metadata"])
        for selector in allocation["spec"]["selectors"]:
            self.assertEqual(selector["matchLabels"], {"agones.dev/fleet": fleet, "agones.dev/sdk-map": self.variables["SHOAL_FLEET_MAP"]})
        for resource in load("kustomization.yaml")["resources"]:
            self.assertTrue((FOLDER / resource).is_file(), resource)

    def test_rights_are_those_of_the_image(self):
        user = re.search(r"^USER (\d+):(\d+)$", self.dockerfile, re.MULTILINE)
        context = self.pod["securityContext"]
        self.assertEqual((context["runAsUser"], context["runAsGroup"]), (int(user.group(1)), int(user.group(2))))
        self.assertTrue(context["runAsNonRoot"])
        self.assertEqual(self.container["securityContext"],
                         {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        self.assertEqual(self.game_server["container"], self.container["name"])

    def test_what_is_written_lies_on_a_volume(self):
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        self.assertEqual(set(mounts), {volume["name"] for volume in self.pod["volumes"]})
        folder = str(Path(self.variables["SHOAL_IDENTITY"]).parent)
        self.assertIn(folder, mounts.values())

    def test_resources_are_those_that_were_measured(self):
        players, entities = (int(self.variables[f"SHOAL_{name}"]) for name in ("MAX_PLAYERS", "ENTITIES"))
        runs = json.loads((ROOT / "docs" / "sizes.json").read_text(encoding="utf-8"))["runs"]
        server, = (run["report"]["server"] for run in runs if (run["options"]["bots"], run["options"]["entities"]) == (players, entities))
        cores = server["cpu_seconds"] / (server["ticks"] / server["tick_rate"])
        mib = server["peak_rss_bytes"] / 2**20
        requests, limits = (self.container["resources"][kind] for kind in ("requests", "limits"))
        self.assertEqual(limits["cpu"], "1", "a whole core: a tick waits for no quota")
        self.assertGreater(int(requests["cpu"].removesuffix("m")) / 1000, cores / 0.6)
        self.assertGreater(int(requests["memory"].removesuffix("Mi")), mib)
        self.assertGreater(int(limits["memory"].removesuffix("Mi")), 2 * mib)

    def test_page_lists_the_files(self):
        page = (FOLDER / "README.md").read_text(encoding="utf-8")
        listed = re.findall(r"^\| `([\w.-]+)` \|", page, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(path.name for path in FOLDER.glob("*.yaml")))


if __name__ == "__main__":
    unittest.main()
