#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Compare records of calls with what stepped.c does: stepped.py leaves|calls COUNT EVENTS

COUNT is what stepped.c prints, EVENTS has a name and its fields a line, as traced.sh makes them.
Each instruction of the call has one of these states, in this order:

  not entered   k_stepped() is not known yet
  entered       it is around what the handler calls; if the handler leaves it, it is counted as left
  in the ring   its record has a place there; if the handler leaves it, the trace shows it as uncommitted
  recorded      its record is whole
"""
import re
import sys

leaves = sys.argv[1] == "leaves"
steps = int(open(sys.argv[2]).read())
calls = {"k_stepped": {}, "k_other": {}, "k_after": {}}
left = {}
uncommitted = 0
for line in open(sys.argv[3]):
    name = line.split()[0].split(":")[1]
    if name == "uncommitted":
        uncommitted += 1
        continue
    fields = {k: int(v, 0) for k, v in re.findall(r"(\w+) = (0x[0-9A-Fa-f]+|-?\d+)", line)}
    nr = fields["arg0"]
    if nr >= 999999:
        continue
    assert nr not in calls[name], "twice: " + line
    assert fields["ret"] == 2 * nr + 1 and not fields["lost"], line
    calls[name][nr] = fields["depth"]
    left[nr] = left.get(nr, 0) + fields["left"]
assert steps > 100, steps
every = list(range(steps))
if leaves:
    assert sorted(calls["k_after"]) == sorted(calls["k_other"]) == every, "a call after k_stepped() has no record"
    assert not any(calls["k_after"].values()), "the depth of a call after k_stepped()"
    assert set(calls["k_other"].values()) == {1}, "the depth of a call within k_after()"
    counted = [nr for nr in every if left.get(nr)]
    whole = sorted(set(calls["k_stepped"]) - {steps})
    assert all(left[nr] == 1 for nr in counted), "a call was counted as left more than once"
    assert counted and counted == list(range(counted[0], counted[-1] + 1)), counted
    assert whole and whole == list(range(whole[0], steps)), whole
    # A place is taken before the call is known to have it: in between it is counted by both.
    both = uncommitted - (whole[0] - counted[-1] - 1)
    assert 0 <= both < len(counted) / 2, (counted[-1], whole[0], uncommitted)
    print(f"{steps} instructions: {counted[0]} before the entry, {len(counted)} left, {uncommitted} uncommitted, {len(whole)} recorded")
else:
    assert sorted(calls["k_stepped"]) == every + [steps], "a call of k_stepped() has no record"
    assert sorted(calls["k_other"]) == every, "a call by the handler has no record"
    within = [nr for nr in every if calls["k_other"][nr]]
    assert within == list(range(within[0], within[-1] + 1)) and not uncommitted and not any(left.values()), within
    print(f"{steps} instructions, {len(within)} within k_stepped()")
