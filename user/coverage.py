#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Lines that ran, per file, over all .gcda files of a folder.

usage: coverage.py TOP FOLDER [NAME ...]

Prints a table for the files called NAME under TOP, and the numbers of the
lines that never ran. Files that several programs include are merged."""

import json
import os
import subprocess
import sys


def main():
    if len(sys.argv) < 4 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    top, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    data = [f for f in os.listdir(folder) if f.endswith(".gcda")]
    if not data:
        sys.exit(f"coverage.py: no .gcda file in {folder}: did the tests run?")

    lines = {name: {} for name in names}
    for name in data:
        out = subprocess.run(["gcov", "--stdout", "--json-format", name], cwd=folder,
                             check=True, capture_output=True, text=True).stdout
        for report in out.splitlines():
            report = json.loads(report)
            for entry in report["files"]:
                path = os.path.join(report["current_working_directory"], entry["file"])
                short = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
                for line in entry["lines"] if short in lines else ():
                    number = line["line_number"]
                    lines[short][number] = lines[short].get(number, 0) + line["count"]

    print(f"{'file':24} {'lines':>6} {'ran':>6} {'%':>6}  never ran")
    for name in names:
        counts = lines[name]
        never = sorted(n for n, count in counts.items() if not count)
        share = 100 * (1 - len(never) / len(counts)) if counts else 0
        print(f"{name:24} {len(counts):6} {len(counts) - len(never):6} {share:6.1f}  "
              + " ".join(map(str, never)))


main()
