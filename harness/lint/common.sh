# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the linters; sourced, never run. A linter prints its findings and ends with 0: none, 1: some,
# 4: it cannot look, and its last line says why.
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
export LINT=$JF_TREE/harness/lint
cd "$JF_TREE" || exit 4

git rev-parse --git-dir >/dev/null 2>&1 || { echo "this is no git tree, so what belongs to it is not known"; exit 4; }

# tracked: the files of the tree, by name
tracked()
{
	git ls-files -co --exclude-standard 2>/dev/null | LC_ALL=C sort | while IFS= read -r f; do
		[ ! -f "$f" ] || printf '%s\n' "$f"
	done
}

# scripts REGEXP PATTERN: those whose first line or name says what they are written in
scripts()
{
	local f first
	tracked | while IFS= read -r f; do
		# shellcheck disable=SC2254
		case $f in
		$2) printf '%s\n' "$f" ;;
		*)
			IFS= read -r first <"$f" 2>/dev/null || continue
			[[ ! $first =~ $1 ]] || printf '%s\n' "$f" ;;
		esac
	done
}

# need COMMAND: or the linter cannot look
need() { command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 4; }; }
