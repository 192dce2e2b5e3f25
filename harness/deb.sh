#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the Debian packages of a copy of this tree, with the version of the tree or another one.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
as_session "$@"

usage()
{
	cat <<EOF
usage: harness/deb.sh [-v VERSION] [-o FOLDER] [-n]
       harness/deb.sh -l

Makes jumpfunc-dkms, jumpfunc-dev, jumpfunc-tools, jumpfunc-trace, jumpfunc-agent, libjumpfunc1, libjumpfunc-dev and the
source package, and runs lintian on them. Needs no root.

  -v VERSION  another version than $(tree_version)
  -o FOLDER   where they go (default build/deb)
  -n          without lintian
  -l          only list what belongs to the sources
EOF
}

version='' out=$JF_BUILD/deb check=1 list=0
while getopts v:o:nlh opt; do
	case $opt in
	v) version=$OPTARG ;;
	o) out=$OPTARG ;;
	n) check=0 ;;
	l) list=1 ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || { usage >&2; exit 2; }

# With sudo the clone has another owner.
clone() { git -c safe.directory='*' -C "$JF_TREE" "$@"; }

# files: what git knows and what is new, or all but what git would ignore
files()
{
	local pattern skip=()
	if [ "$(clone rev-parse --show-toplevel 2>/dev/null)" = "$(readlink -f "$JF_TREE")" ]; then
		clone ls-files -co --exclude-standard
		return
	fi
	while IFS= read -r pattern; do
		case $pattern in
		''|'#'*) ;;
		/*) pattern=${pattern%/} skip+=(-o -path ".$pattern") ;;
		*) skip+=(-o -name "${pattern%/}") ;;
		esac
	done < <(cat "$JF_TREE/.gitignore" 2>/dev/null)
	(cd "$JF_TREE" && find . \( -path ./.git -o -path ./.pc -o -path ./build -o -path ./results "${skip[@]}" \) -prune -o -type f -printf '%P\n')
}

# A file that git knows may have been deleted.
sources() { files | while IFS= read -r f; do [ ! -e "$JF_TREE/$f" ] || printf '%s\n' "$f"; done; }
if [ $list = 1 ]; then sources; exit; fi

version=${version:-$(tree_version)}
[[ $version =~ ^[0-9][0-9A-Za-z.+~]*$ ]] || die "\"$version\" is no version that Debian's packages can have"

make_folder "$out"
out=$(readlink -f "$out")
[[ $out != *[[:space:]]* ]] || die "nothing can be built where a folder has a blank in its name: $out; another one: harness/deb.sh -o FOLDER"
exec 8>"$out/lock"
flock -n 8 || { say "waiting for another build in $out"; flock 8; }

work=$out/src/jumpfunc-$version
rm -rf "$out/src"
mkdir -p "$work"

sources | tr '\n' '\0' | tar -c -C "$JF_TREE" --null -T - -f - | tar -x -C "$work" -f -
"$JF_TREE/harness/fill.sh" -v "$version" "$work"

log=$out/build.log
if ! (cd "$work" && LC_ALL=C dpkg-buildpackage -us -uc -F) >"$log" 2>&1; then
	tail -n 30 "$log" >&2
	die "the packages do not build; the whole output is in $log"
fi
rm -f "$out"/*.deb "$out"/*.dsc "$out"/*.tar.* "$out"/*.changes "$out"/*.buildinfo
mv "$out"/src/*.deb "$out"/src/*.dsc "$out"/src/*.tar.* "$out"/src/*.changes "$out"/src/*.buildinfo "$out"
rm -rf "$out/src"

if [ $check = 1 ] && command -v lintian >/dev/null; then
	# The sources name no person, only a team: Uploaders are those who publish. Older versions of lintian do not ask.
	team=()
	[ ! -e /usr/share/lintian/tags/n/no-human-maintainers.tag ] || team=(--suppress-tags no-human-maintainers)
	# It will not run as root unless told to.
	found=$(lintian --allow-root "${team[@]}" --fail-on error,warning "$out"/*.changes 2>&1) || { printf '%s\n' "$found" >&2; die "lintian objects"; }
	printf '%s' "$found"
fi
say "packages of version $version: $(cd "$out" && echo *.deb), in ${out#"$PWD"/}"
