#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Compare records of calls with the counts of calls.cc: calls.py COUNTS EVENTS

EVENTS has a name and its fields a line, as traced.sh makes them. All that is wrong is printed; the exit status says whether anything is.
"""
import re
import sys

# No file is to come beside this one.
sys.dont_write_bytecode = True
from complaints import complain, end  # noqa: E402

# Functions whose level differs from the level of their stack, or is not known.
UNLEVELLED = {"c_handles", "c_yields", "c_migrates"}

entered, returned, slept, jumps = {}, {}, 0, True
for line in open(sys.argv[1]):
    words = line.split()
    if words[0] == "slept":
        slept = int(words[1])
    elif words[0] == "tail":
        jumps = words[1] == "1"
    else:
        entered[words[0]], returned[words[0]] = int(words[1]), int(words[2])
seen = dict.fromkeys(entered, 0)
left = lost = sleeping = 0
for line in open(sys.argv[2]):
    name = line.split()[0].split(":")[1]
    if name not in seen:
        continue
    fields = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (0x[0-9A-Fa-f]+|-?\d+)", line)}
    if "duration" not in fields:
        complain("no call: " + line)
        continue
    seen[name] += 1
    left += fields["left"]
    lost += fields["lost"]
    level, x = fields["arg0"], fields["arg1"]
    if fields["duration"] > 60 * 10**9:
        complain("too long: " + line)
    if level < 1000 and name not in UNLEVELLED and fields["depth"] != level:
        complain("depth: " + line)
    if bool(fields["tail"]) != (name == "c_tailed" and jumps):
        complain("tail: " + line)
    if name != "c_tailed" and fields["ret"] != 2 * x + 1:
        complain("ret: " + line)
    if name == "c_sleeps":
        sleeping += fields["duration"]
for name, num in returned.items():
    if seen[name] != num:
        complain(f"{name}: {seen[name]} records, {num} of {entered[name]} calls have returned")
# The clocks differ by some millionths.
if sleeping < slept * 0.999:
    complain(f"slept for {slept} ns, recorded {sleeping}")
gone = sum(entered.values()) - sum(returned.values())
# If a thread ends within calls, the next thread that has its place counts them, if there is one.
if not gone - 4 <= left <= gone:
    complain(f"{left} calls were left, as the records say; {gone} did not return")
if lost:
    complain(f"{lost} calls were lost")
print(f"{sum(seen.values())} records, {left} calls left")
end()
