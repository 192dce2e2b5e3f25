# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# shellcheck shell=sh
# Sources of programs from Debian. For scripts that read it with ".".
cache=${JF_CACHE:-/var/cache/jumpfunc}/sources/debian

die() { echo "${0##*/}: $*" >&2; exit 1; }
# log FILE COMMAND...: says what went wrong
log()
{
	file=$1
	shift
	"$@" > "$file" 2>&1 || { tail -n 20 "$file" >&2; die "failed, see $file: $*"; }
}

# --- sources, by an apt that sees nothing but this machine's Debian, with deb-src ---------------

package_of()
{
	case $1 in
	memcached) echo memcached ;;
	tcl) echo tcl8.6 ;;
	python) basename "$(readlink -f /usr/bin/python3)" ;;
	zstd) echo libzstd ;;
	*) die "no such program: $1" ;;
	esac
}

use_apt()
{
	# shellcheck disable=SC2016 # apt's variables
	lines=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		awk -v key=/usr/share/keyrings/debian-archive-keyring.gpg '
			$2 == "main" && !seen[$0]++ { printf "deb-src [signed-by=%s] %s %s main\n", key, $3, $1 }')
	[ -n "$lines" ] || die "no Debian mirror in this machine's apt configuration"
	mkdir -p "$cache/lists/partial" "$cache/archives/partial" "$cache/empty"
	: > "$cache/status"
	printf '%s\n' "$lines" > "$cache/sources.list"
	cat > "$cache/apt.conf" <<-END
		Dir::Etc::sourcelist "$cache/sources.list";
		Dir::Etc::sourceparts "$cache/empty";
		Dir::State "$cache";
		Dir::State::lists "$cache/lists";
		Dir::State::status "$cache/status";
		Dir::Cache "$cache";
		APT::Sandbox::User "$(id -un)";
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Update::Post-Invoke;
		Acquire::Languages "none";
		Acquire::Check-Valid-Until "false";
	END
	export APT_CONFIG="$cache/apt.conf"
	log "$cache/update.log" apt-get -qq update
}

# source_of PROGRAM: prints where its sources are
source_of()
{
	package=$(package_of "$1")
	found=$(find "$cache" -maxdepth 1 -type d -name "$package-[0-9]*")
	if [ -z "$found" ]; then
		(use_apt && cd "$cache" && log "$cache/$package.log" apt-get -qq source --only-source "$package") >&2
		found=$(find "$cache" -maxdepth 1 -type d -name "$package-[0-9]*")
	fi
	[ -n "$found" ] || die "no sources of $package in $cache"
	echo "$found"
}
