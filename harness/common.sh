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

# make_folder FOLDER: for what is built
make_folder()
{
	mkdir -p "$1" 2>/dev/null && [ -w "$1" ] || die "cannot write to $1; name another folder with JF_BUILD=/some/folder"
}

# tree_version: the version that the products of this tree show
tree_version() { "$JF_TREE/packaging/version"; }

# mib BYTES
mib() { echo "$(( ($1 + 524288) / 1048576 )) MiB"; }

# attended COMMAND...: runs a program of the harness that ends by a signal with all that it started, and
# hands on the signal that ends us: bash alone would die, and the program would go on.
attended()
{
	local rc=0
	trap 'end_attended 130' INT
	trap 'end_attended 143' TERM
	trap 'end_attended 129' HUP
	"$@" &
	JF_ATTENDED=$!
	wait "$JF_ATTENDED" || rc=$?
	JF_ATTENDED=
	trap - INT TERM HUP
	return $rc
}

end_attended()
{
	trap '' INT TERM HUP
	[ -z "${JF_ATTENDED:-}" ] || { kill "$JF_ATTENDED" && wait "$JF_ATTENDED"; } 2>/dev/null || true
	exit "$1"
}

# in_session LEADER: the processes of this session that have not ended yet
in_session()
{
	local stat line
	for stat in /proc/[0-9]*/stat; do
		{ read -r line <"$stat"; } 2>/dev/null || continue
		[[ ! $line =~ ^([0-9]+)\ .*\)\ [^ZX]\ [0-9]+\ [0-9]+\ "$1"\  ]] || echo "${BASH_REMATCH[1]}"
	done
}

# as_session "$@": for scripts that start what does not end with them, like make and its compilers. Goes on
# in a session of its own; the signal that ends us ends all of that.
as_session()
{
	local rc=0
	# Only the child of the one who said so.
	[ "${JF_SESSION:-}" != "$PPID" ] || { unset JF_SESSION; return 0; }
	trap 'end_session 130' INT
	trap 'end_session 143' TERM
	trap 'end_session 129' HUP
	JF_SESSION=$$ setsid "$BASH" "$0" "$@" &
	JF_ATTENDED=$!
	wait "$JF_ATTENDED" || rc=$?
	exit $rc
}

end_session()
{
	local pids try
	trap '' INT TERM HUP
	for try in {1..100}; do
		pids=$(in_session "${JF_ATTENDED:-none}")
		[ -n "$pids" ] || break
		# Again and again: the last process to get the signal may have started another one.
		# shellcheck disable=SC2086
		kill -s "$([ "$try" = 100 ] && echo KILL || echo TERM)" $pids 2>/dev/null || true
		sleep 0.1
	done
	exit "$1"
}
