"""No schema nests one FlatBuffer in another: a verifier begins anew in each, so that no limit would bound the whole."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NESTING = re.compile(r"\b(nested_flatbuffer|flexbuffer)\b")


def nestings(text):
    return NESTING.findall(re.sub(r"//[^\n]*", "", text))


class SchemaFiles(unittest.TestCase):
    def test_no_schema_nests_a_flatbuffer(self):
        files = [file for file in ROOT.rglob("*.fbs") if "build" not in file.relative_to(ROOT).parts]
        names = {file.relative_to(ROOT).as_posix() for file in files}
        self.assertLessEqual({"schema/protocol.fbs", "schema/messages.fbs", "schema/image.fbs"}, names)
        for file in files:
            self.assertEqual(nestings(file.read_text(encoding="utf-8")), [], file)

    def test_nesting_is_found_wherever_it_stands(self):
        self.assertTrue(nestings('table A { b: [ubyte] (required, nested_flatbuffer: "B"); }'))
        self.assertTrue(nestings("table A {\n  b: [ubyte] (\n    flexbuffer);\n}"))
        self.assertFalse(nestings("// no nested_flatbuffer here\ntable A { nested: ubyte; }"))


if __name__ == "__main__":
    unittest.main()
