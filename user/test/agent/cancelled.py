#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Compare records of calls with the counts of cancelled.c: cancelled.py COUNTS EVENTS

EVENTS has a name and its fields a line, as traced.sh makes them. All that is wrong is printed; the exit status says whether anything is.
"""
import re
import sys

# No file is to come beside this one.
sys.dont_write_bytecode = True
from complaints import complain, end  # noqa: E402


seen = {}
deepest = {}
left = lost = torn = 0
for line in open(sys.argv[2]):
    name = line.split()[0].split(":")[1]
    # A thread was cancelled while it recorded.
    if name == "uncommitted":
        torn += 1
        continue
    fields = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (0x[0-9A-Fa-f]+|-?\d+)", line)}
    thread, level, nr = fields["arg0"], fields["arg1"], fields["arg2"]
    seen.setdefault((name, thread), []).append(nr)
    left += fields["left"]
    lost += fields["lost"]
    if name == "k_after":
        deepest[thread] = max(deepest.get(thread, 0), fields["depth"])
    elif level != (name == "k_inner") or fields["depth"] != level:
        complain("depth: " + line)
    if fields["ret"] != 2 * nr + thread:
        complain("another call's end: " + line)
    if fields["duration"] > 60 * 10**9:
        complain("too long: " + line)
threads = anywheres = 0
for line in open(sys.argv[1]):
    thread, anywhere, inner, outer = map(int, line.split())
    threads += 1
    anywheres += anywhere
    for name, counted in (("k_inner", inner), ("k_outer", outer)):
        have = seen.pop((name, thread), [])
        # A thread that can be cancelled anywhere can be so between its count and the return.
        if have != list(range(len(have))) or len(have) not in (counted, counted - anywhere):
            complain(f"thread {thread}: {len(have)} records of {name}, {counted} counted")
    after = seen.pop(("k_after", thread), [])
    if after != [0, 1, 2]:
        complain(f"thread {thread}: its last calls are {after}")
    if deepest.get(thread, 0):
        complain(f"thread {thread}: its last calls have the depth {deepest[thread]}")
if seen:
    complain(f"calls of no thread: {sorted(seen)[:3]}")
if lost:
    complain(f"{lost} calls were lost")
# A thread counts what the one before it on its stack has left, two calls at most.
if left > 2 * threads:
    complain(f"{left} calls were left by {threads} threads")
if torn > anywheres:
    complain(f"{torn} records of {anywheres} threads were not ended")
print(f"{threads} threads, {left} calls left")
end()
