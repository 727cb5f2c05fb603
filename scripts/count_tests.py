#!/usr/bin/env python3
"""Adds up a JUnit report of ctest: prints "PASSED FAILED", then the name of each failed test, one per line.

Usage: scripts/count_tests.py REPORT.xml. A test that could not be started counts as failed; one that says it
was skipped, or is disabled, counts as neither.
"""
import sys
import xml.etree.ElementTree as ElementTree


def has_failed(case):
    if case.get("status") != "notrun":
        return case.get("status") == "fail"
    skipped = case.find("skipped")
    message = "" if skipped is None else skipped.get("message", "")
    return not message.startswith("SKIP_")  # SKIP_REGULAR_EXPRESSION_MATCHED, SKIP_RETURN_CODE=…


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] in ("--help", "-h"):
        print(__doc__)
        return
    try:
        cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"count_tests: {sys.argv[1]}: {error}")
    passed = [case for case in cases if case.get("status") == "run" and not has_failed(case)]
    failed = [case for case in cases if has_failed(case)]
    print(len(passed), len(failed))
    for case in failed:
        print(case.get("name"))


main()
