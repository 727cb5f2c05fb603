"""The tools must fail where they should: an alarm that never rings is none."""
import pathlib
import tempfile
import unittest

import include_table
import outside_world


class IncludeTable(unittest.TestCase):
    def faults_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return list(include_table.faults(root))

    def test_edge_of_the_table_is_allowed(self):
        self.assertEqual(self.faults_of({
            "shared/base/tick.hpp": "", "shared/ecs/entity.hpp": '#include <vector>\n#include "shared/base/tick.hpp"\n'}), [])

    def test_edge_against_the_table_is_named_with_its_line(self):
        self.assertEqual(
            self.faults_of({"server/server.hpp": "", "client/client.cpp": '\n\n#include "server/server.hpp"\n'}),
            ['client/client.cpp:3: client may not include server ("server/server.hpp")'])

    def test_net_does_not_know_entities(self):
        found = self.faults_of({"shared/ecs/entity.hpp": "", "shared/net/ids.hpp": '#include "shared/ecs/entity.hpp"\n'})
        self.assertIn("shared/net may not include shared/ecs", found[0])

    def test_replication_names_no_game_component(self):
        found = self.faults_of({"shared/replication/table.cpp": '#include "schema/components.hpp"\n'})
        self.assertIn("shared/replication may not include schema components", found[0])

    def test_library_server_knows_no_game_but_its_program_does(self):
        files = {"shared/game/rules.hpp": "", "server/demo/demo_game.cpp": '#include "shared/game/rules.hpp"\n'}
        self.assertEqual(self.faults_of(files), [])
        found = self.faults_of(files | {"server/server.cpp": '#include "shared/game/rules.hpp"\n'})
        self.assertIn("server may not include shared/game", found[0])

    def test_include_line_that_does_not_start_at_the_root(self):
        found = self.faults_of({"shared/ecs/entity.hpp": "", "shared/ecs/view.hpp": '#include "entity.hpp"\n'})
        self.assertIn('"entity.hpp" is no file below the root', found[0])

    def test_library_that_the_module_does_not_use(self):
        self.assertIn("shared/replication may not use asio", self.faults_of({"shared/replication/column.hpp": "#include <asio.hpp>\n"})[0])

    def test_hidden_library_outside_its_file(self):
        self.assertIn("the one file that hides spdlog",
                      self.faults_of({"shared/base/tick.cpp": "#include <spdlog/spdlog.h>\n"})[0])

    def test_module_outside_the_table(self):
        self.assertIn("belongs to no module", self.faults_of({"shared/util/util.hpp": ""})[0])

    def test_link_against_the_table(self):
        self.assertEqual(
            self.faults_of({"shared/net/CMakeLists.txt": "shoal_module(NAME net PUBLIC shoal_base shoal_ecs PRIVATE shoal_dep::asio)"}),
            ["shared/net/CMakeLists.txt: shared/net may not link shared/ecs"])

    def test_page_that_says_what_the_table_says(self):
        page = "# Architecture\n\n" + include_table.markdown_table() + "\n\nMore.\n"
        self.assertEqual(self.faults_of({"docs/architecture.md": page}), [])

    def test_page_that_differs_names_the_row(self):
        page = include_table.markdown_table().replace("| `shared/ecs` | shared/base |", "| `shared/ecs` | shared/net |")
        found = self.faults_of({"docs/architecture.md": page})
        self.assertEqual(len(found), 1)
        self.assertIn("row of shared/ecs differs", found[0])


class OutsideWorld(unittest.TestCase):
    def test_clock_in_a_library(self):
        found = list(outside_world.faults_in("server/server.cpp", "auto t = std::chrono::steady_clock::now();"))
        self.assertIn("server/server.cpp:1: a clock (steady_clock)", found[0])

    def test_random_number_and_environment(self):
        self.assertEqual(len(list(outside_world.faults_in("shared/game/ai.cpp", "std::random_device d; getenv(x);"))), 2)

    def test_words_in_comments_and_texts_are_no_calls(self):
        self.assertEqual(list(outside_world.faults_in("server/server.cpp", '// steady_clock\nf("getenv(1)");')), [])

    def test_files_at_the_border_may(self):
        self.assertEqual(list(outside_world.faults_in("shared/base/time.cpp", "steady_clock::now()")), [])


if __name__ == "__main__":
    unittest.main()
