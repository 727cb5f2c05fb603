#!/usr/bin/env python3
"""Fails on any include line, and any link between modules, that the include table does not allow.

The table below is the law; the one in docs/architecture.md (a table with the columns "module", "may include"
and "libraries") must say the same. `--markdown` prints it in that form.
"""
import argparse
import pathlib
import re
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    name: str
    files: str  # a pattern of paths; a file belongs to the first module that matches
    may_include: tuple
    libraries: tuple = ()


LIBRARIES = {  # header prefix -> library
    "asio": "asio", "flatbuffers/": "flatbuffers", "sodium": "sodium", "xxhash": "xxhash", "CLI/": "CLI11",
    "toml++/": "toml++", "spdlog/": "spdlog", "fmt/": "fmt", "gtest/": "googletest", "gmock/": "googletest",
    "nlohmann/": "nlohmann-json", "benchmark/": "benchmark", "prometheus/": "prometheus", "civetweb": "civetweb", "Civet": "civetweb",
    "httplib": "cpp-httplib",
}

SHARED = ("shared/base", "shared/ecs", "shared/wire", "shared/config", "shared/net", "shared/replication")
GAME = ("shared/game", "schema components")

MODULES = [
    Module("schema/generator", r"schema/generator/", ("shared/base", "shared/wire"), ("flatbuffers",)),
    Module("shared/base", r"shared/base/", (), ("fmt", "spdlog")),
    Module("shared/ecs", r"shared/ecs/", ("shared/base",), ("fmt", "asio")),
    Module("shared/wire", r"shared/wire/", ("shared/base",), ("fmt",)),
    Module("shared/config", r"shared/config/", ("shared/base",), ("fmt", "CLI11", "toml++")),
    Module("shared/net", r"shared/net/", ("shared/base", "shared/wire", "schema protocol"),
           ("fmt", "asio", "flatbuffers", "sodium", "xxhash")),
    Module("shared/replication", r"shared/replication/",
           ("shared/base", "shared/ecs", "shared/wire", "schema protocol"), ("fmt", "flatbuffers", "xxhash")),
    Module("shared/image/main.cpp", r"shared/image/main\.cpp$", ("shared/base", "shared/config", "shared/image"), ("fmt",)),
    Module("shared/image", r"shared/image/", ("shared/base", "shared/ecs", "shared/wire", "schema image"),
           ("fmt", "flatbuffers", "xxhash", "nlohmann-json")),
    # The components' descriptors are of shared/wire.
    Module("shared/game", r"shared/game/", ("shared/base", "shared/ecs", "shared/wire", "schema components"), ("fmt",)),
    # The libraries know no game; the demo's server and the bots wire shared/game in.
    # What a server's process is beside the tick: its signals, files, and whoever watches it.
    Module("server/service/program.cpp", r"server/service/(program|admin_part)\.[ch]pp$",
           SHARED + ("server", "server/service", "server/admin", "server/saves", "server/fleet"), ("fmt",)),
    Module("server/service", r"server/service/", SHARED + ("server",), ("fmt",)),
    Module("server/admin", r"server/admin/", SHARED + ("server",),
           ("fmt", "civetweb", "prometheus", "nlohmann-json", "sodium")),
    Module("server/saves", r"server/saves/", SHARED + ("shared/image", "schema saves", "server", "server/service"),
           ("fmt", "flatbuffers")),
    # Agones' side-car.
    Module("server/fleet", r"server/fleet/", SHARED + ("server", "server/service"), ("fmt", "nlohmann-json", "cpp-httplib")),
    Module("server/main.cpp", r"server/main\.cpp$", ("server/demo", "server/service/program.cpp")),
    Module("server/demo", r"server/demo/", SHARED + GAME + ("shared/image", "schema messages", "schema protocol", "server"), ("fmt", "asio")),
    Module("server/tickets", r"server/tickets/", ("shared/base", "shared/config", "shared/net"), ("fmt",)),
    Module("client/bots", r"client/bots/", SHARED + GAME + ("schema messages", "schema protocol", "client"),
           ("fmt", "asio", "cpp-httplib", "nlohmann-json")),
    Module("server", r"server/", SHARED + ("shared/image", "schema protocol", "schema service"), ("fmt", "flatbuffers", "xxhash")),
    Module("client", r"client/", SHARED + ("schema protocol", "schema service"), ("fmt", "flatbuffers", "xxhash")),
]

# A library that one file hides from all others.
ONLY_IN = {"spdlog": r"shared/base/log\.cpp$", "CLI11": r"shared/config/command_line\.cpp$",
           "toml++": r"shared/config/toml_file\.cpp$",
           "nlohmann-json": r"(shared/image/json_document|client/bots/server_watch|server/fleet/agones_json|server/admin/status_json)\.cpp$",
           "cpp-httplib": r"(client/bots/server_watch|server/fleet/http_client)\.cpp$",
           "civetweb": r"server/admin/http_server\.cpp$", "prometheus": r"server/admin/metrics\.cpp$"}

GENERATED = {"schema/protocol_generated.h": "schema protocol", "schema/image_generated.h": "schema image",
             "schema/messages_generated.h": "schema messages", "schema/service_generated.h": "schema service",
             "schema/saves_generated.h": "schema saves",
             "schema/components.hpp": "schema components",
             "schema/components_descriptors.hpp": "schema components"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
MODULE_CALL = re.compile(r"shoal_module\s*\(([^)]*)\)")


def module_of(path):
    for module in MODULES:
        if re.match(module.files, path):
            return module
    return None


def library_of(header):
    for prefix, library in LIBRARIES.items():
        if header.startswith(prefix):
            return library
    return None


def include_faults(root, path, text):
    module = module_of(path)
    for match in INCLUDE.finditer(text):
        place = f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}"
        quote, header = match.groups()
        if quote == "<":
            library = library_of(header)
            if library is None:
                continue
            if library not in module.libraries:
                yield f"{place}: {module.name} may not use {library} (<{header}>)"
            elif library in ONLY_IN and not re.search(ONLY_IN[library], path):
                yield f"{place}: <{header}> stays in the one file that hides {library}"
            continue
        if header in GENERATED:
            target = GENERATED[header]
        else:
            if not (root / header).is_file():
                yield f'{place}: "{header}" is no file below the root: include paths start there'
                continue
            target_module = module_of(header)
            if target_module is None:
                yield f'{place}: "{header}" belongs to no module'
                continue
            target = target_module.name
        if target != module.name and target not in module.may_include:
            yield f"{place}: {module.name} may not include {target} (\"{header}\")"


def link_faults(path, text):
    """shoal_module(NAME x PUBLIC … PRIVATE …) may link only what the module may include."""
    names = {module.name.removeprefix("shared/"): module.name for module in MODULES}
    names |= {"protocol": "schema protocol", "image_schema": "schema image", "demo_messages": "schema messages",
              "service_messages": "schema service", "saves_schema": "schema saves", "demo_server": "server/demo",
              "service": "server/service", "program": "server/service/program.cpp", "saves": "server/saves",
              "admin": "server/admin", "fleet": "server/fleet", "bots": "client/bots"}
    for call in MODULE_CALL.finditer(text):
        words = call.group(1).split()
        name = words[words.index("NAME") + 1]
        module = next((m for m in MODULES if m.name == names.get(name)), None)
        if module is None:
            yield f"{path}: the module {name} is not in the include table"
            continue
        for word in words:
            target = names.get(word.removeprefix("shoal_")) if word.startswith("shoal_") and "::" not in word else None
            if target is not None and target not in module.may_include:
                yield f"{path}: {module.name} may not link {target}"


def markdown_table():
    lines = ["| module | may include | libraries |", "|---|---|---|"]
    for module in MODULES:
        lines.append(f"| `{module.name}` | {', '.join(module.may_include) or '–'} | {', '.join(module.libraries) or '–'} |")
    return "\n".join(lines)


def words_of(cell):
    return {word.strip(" `") for word in cell.split(",")} - {"", "–", "-", "nothing"}


def document_faults(path, text):
    """The page's table against this one."""
    columns, stated = None, {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        if not cells:
            columns = None
        elif "may include" in cells and "module" in cells and "libraries" in cells:
            columns = {cell: index for index, cell in enumerate(cells)}
        elif columns and not set(line) <= set("|-: "):
            stated[cells[columns["module"]].strip("`")] = [
                words_of(cells[columns[column]]) for column in ("may include", "libraries")]
    wanted = {module.name: [set(module.may_include), set(module.libraries)] for module in MODULES}
    for name in sorted(wanted.keys() | stated.keys()):
        if stated.get(name) != wanted.get(name):
            yield f"{path}: the include table's row of {name} differs from tests/tools/include_table.py (see --markdown)"


def faults(root):
    for folder in ("schema/generator", "shared", "server", "client"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in (".hpp", ".cpp", ".h"):
                text = file.read_text(encoding="utf-8")
                if module_of(path) is None:
                    yield f"{path}: belongs to no module of the include table"
                else:
                    yield from include_faults(root, path, text)
            elif file.name == "CMakeLists.txt":
                yield from link_faults(path, file.read_text(encoding="utf-8"))
    page = root / "docs" / "architecture.md"
    if page.is_file():
        yield from document_faults("docs/architecture.md", page.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="print the table for docs/architecture.md")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    if options.markdown:
        print(markdown_table())
        return
    found = list(faults(options.root))
    print("\n".join(found) if found else "every include line is in the table")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
