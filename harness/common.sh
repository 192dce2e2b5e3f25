# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the scripts of the harness; sourced, never run.

JF_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# One cache for all clones on a machine, so that a fresh clone does not download again.
if [ -z "${JF_CACHE:-}" ]; then
	if [ "$(id -u)" = 0 ]; then
		JF_CACHE=/var/cache/jumpfunc
	else
		JF_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/jumpfunc
	fi
fi
export JF_CACHE
JF_BUILD=${JF_BUILD:-$JF_TREE/build}

say() { printf '%s\n' "jumpfunc: $*" >&2; }
die() { printf '%s\n' "jumpfunc: error: $*" >&2; exit 1; }

# cache_dir SUBDIR: makes it and prints its path.
cache_dir()
{
	mkdir -p "$JF_CACHE/$1" 2>/dev/null && [ -w "$JF_CACHE/$1" ] ||
		die "cannot write the cache folder $JF_CACHE; name another one with JF_CACHE=/some/folder"
	printf '%s\n' "$JF_CACHE/$1"
}

# mib BYTES
mib() { echo "$(( ($1 + 524288) / 1048576 )) MiB"; }
