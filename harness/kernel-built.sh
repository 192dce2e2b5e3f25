# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Kernels that the harness builds from a linux-source package; sourced by kernel.sh, never run.

JF_CONFIGS=$JF_TREE/harness/vm/config
# Raise it when a kernel built in the old way must not be taken for one built in the new way.
JF_RECIPE=1

# directive NAME FILE...: the values of `# NAME=value` in fragments
directive()
{
	local name=$1; shift
	sed -n "s/^#\\(.* \\)\\?$name=\\([^ ]*\\).*/\\2/p" "$@"
}

# largest: of the numbers in the input; 1 if there are none
largest() { sort -n | tail -n 1 | grep . || echo 1; }

# merge VERSION FILE...: the options that fragments ask of that kernel.  A line may end with a
# version as its condition: `# < 6.9` or `# >= 6.9`.
merge()
{
	local v=$1; shift
	awk -v version="$v" '
	function number(s,   a) { split(s, a, "."); return a[1] * 1000 + a[2] }
	{
		line = $0
		if (match(line, /[ \t]+# (<|>=) [0-9.]+$/)) {
			n = split(substr(line, RSTART), c, " ")
			line = substr(line, 1, RSTART - 1)
			if (c[2] == "<" ? number(version) >= number(c[3]) : number(version) < number(c[3]))
				next
		}
	}
	line ~ /^(CONFIG_[A-Za-z0-9_]+=|# CONFIG_[A-Za-z0-9_]+ is not set$)/ {print line; next}
	line !~ /^(#|[ \t]*$)/ {printf "%s:%d: %s\n", FILENAME, FNR, line >"/dev/stderr"; bad = 1}
	END {exit bad}' "$@"
}

# dropped WANTED CONFIG: which of the wanted options the configuration does not have
dropped()
{
	awk 'NR == FNR {
		if (sub(/ is not set$/, "")) off[$2] = 1; else {o = $0; sub(/=.*/, "", o); v = $0; sub(/^[^=]*=/, "", v); want[o] = v}
		next
	}
	/^CONFIG_/ {o = $0; sub(/=.*/, "", o); v = $0; sub(/^[^=]*=/, "", v); has[o] = v}
	END {
		for (o in want) {
			v = (o in has) ? has[o] : "not there"
			if (v != want[o]) printf "%s=%s (it is %s)\n", o, want[o], v
		}
		for (o in off) if (o in has) printf "%s unset (it is %s)\n", o, has[o]
	}' "$1" "$2" | sort
}

# quietly LOG COMMAND...: in the background, at low priority, ended with us; the output goes to LOG.
# Says every now and then how far it is.
quietly()
{
	local log=$1 start=$SECONDS shown=$SECONDS every=60 n
	shift
	[ ! -t 2 ] || every=2
	setsid nice env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C "$@" >>"$log" 2>&1 </dev/null &
	building=$!
	while kill -0 $building 2>/dev/null; do
		sleep 1
		[ "$expected" != 0 ] && [ $((SECONDS - shown)) -ge $every ] || continue
		shown=$SECONDS
		n=$(grep -cE '^ +(CC|AS|HOSTCC) ' "$log") || true
		if [ -t 2 ]; then
			printf '\rjumpfunc: %d of some %d files compiled, %d:%02d ' "$n" "$expected" \
				$(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) >&2
		else
			say "$n of some $expected files compiled"
		fi
	done
	[ ! -t 2 ] || [ $shown = $start ] || printf '\r\033[K' >&2
	wait $building
}

stop_building()
{
	[ -z "${building:-}" ] || kill -TERM -- -"$building" 2>/dev/null || true
	building=
}

# What the functions from here to fetch_built tell each other, for one kernel: its name, the
# fragments of its configuration, the sources' tree, its version and release, what is built and how
# (arch, target, image, llvm, vars for make), the options wanted, the folders (top, out, o) and the log.
fragments=() vars=() make=()

# choose_fragments: sets fragments from the flavour
choose_fragments()
{
	local f
	fragments=()
	for f in ${flavour//,/ }; do
		f=${f#source:}
		[ -e "$JF_CONFIGS/$f.config" ] ||
			die "harness/kernels.tab wants fragment '$f' for kernel $name: there is no harness/vm/config/$f.config"
		fragments+=("$JF_CONFIGS/$f.config")
	done
}

# choose_target: what to make, and with what, by the fragments; sets arch, target, image, vars, llvm
choose_target()
{
	arch=$(directive JF_ARCH "${fragments[@]}" | tail -n 1)
	: "${arch:=x86_64}"
	if [ "$arch" = um ]; then
		target=linux image=linux
	else
		target=bzImage image=arch/x86/boot/bzImage
	fi
	mapfile -t vars < <(directive JF_MAKE "${fragments[@]}")
	llvm=$(directive JF_LLVM "${fragments[@]}" | tail -n 1)
	[ -z "$llvm" ] || vars+=("LLVM=-$llvm")
}

# compiler: what builds it
compiler()
{
	if [ -n "$llvm" ]; then echo "clang-$llvm"; else echo gcc; fi
}

# choose_options: sets kversion, release, and wanted: all that its configuration must have
choose_options()
{
	kversion=$(awk '$2 == "=" {v[$1] = $3} END {print v["VERSION"] "." v["PATCHLEVEL"] "." v["SUBLEVEL"]}' \
		<(head -n 5 "$tree/Makefile"))
	wanted=$(merge "$kversion" "${fragments[@]}") || die "these lines of fragments are no options"
	wanted+=$'\n'"CONFIG_LOCALVERSION=\"-${name#*-}\""
	release=$kversion-${name#*-}
}

# recipe: a word for all that a build depends on
recipe()
{
	local f
	{
		echo "$JF_RECIPE $arch ${vars[*]} ${tree##*/}"
		echo "$wanted"
		"$(compiler)" -v 2>&1 | grep -E '(gcc|clang) version'
		for f in "${fragments[@]}"; do cat "${f%.config}.sed" 2>/dev/null || true; done
	} | sha256sum | cut -c 1-12
}

configure_built()
{
	local missing
	echo "$wanted" >"$out/wanted"
	expected=0
	quietly "$log" "${make[@]}" "KCONFIG_ALLCONFIG=$out/wanted" allnoconfig ||
		{ tail -n 20 "$log" >&2; die "cannot configure kernel $name: the whole output is in $log"; }
	missing=$(dropped "$out/wanted" "$o/.config")
	[ -z "$missing" ] ||
		die "kernel $name ($kversion) does not take these options of its fragments; something that they depend on is missing, or they have another name there:"$'\n'"  ${missing//$'\n'/$'\n'  }"
}

compile_built()
{
	# Seen once, it is known.
	expected=$(cat "$top/expected" 2>/dev/null || echo 1000)
	say "building kernel $name ($release) from ${tree##*/}: 5 to 10 minutes of CPU time, once; log in $log"
	if ! quietly "$log" "${make[@]}" "$target" modules; then
		grep -E -m 5 -A 5 'error: |\*\*\* |undefined reference' "$log" >&2 || tail -n 20 "$log" >&2
		die "kernel $name does not build: the whole output is in $log"
	fi
	grep -cE '^ +(CC|AS|HOSTCC) ' "$log" >"$top/expected" || true
}

# keep_built: what is of use of the build, and info, which says where it is
keep_built()
{
	cp "$o/$image" "$out/vmlinuz"
	cp "$o/.config" "$out/config"
	mv "$o/System.map" "$out/System.map"
	# What the build of a module reads stays: headers, tools, the exported symbols.
	find "$o" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name '.*.d' -o -name '*.s' -o -name '*.gcno' \
		-o -name 'vmlinux*' -o -name bzImage -o -name '.tmp_*' -o -name '*.order' \) \
		-type f -delete
	rm -f "$o/linux" "$o/vmlinux"
	cat >"$out/info.new" <<-EOF
		name=$name
		suite=linux-source
		release=$release
		version=${tree##*_}
		vmlinuz=$out/vmlinuz
		config=$out/config
		toolchain=host
		compiler=$([ -n "$llvm" ] && compiler || echo "gcc-$(gcc -dumpversion)")
		root=
		kdir=$o
		arch=$arch
		slow=$(directive JF_SLOW "${fragments[@]}" | largest)
		mem=$(directive JF_MEM "${fragments[@]}" | largest)
		boot=$(directive JF_BOOT "${fragments[@]}" | tail -n 1)
	EOF
	[ -z "$llvm" ] || echo "llvm=-$llvm" >>"$out/info.new"
	mv "$out/info.new" "$out/info"
}

# fetch_built NAME: builds it, unless the cache has it; sets out.  The lock is held, lookup is done.
fetch_built()
{
	local name=$1 top=$2 tree arch target image llvm kversion release wanted log o
	choose_fragments
	choose_target
	"$JF_TREE/harness/deps.sh" source ${llvm:+llvm}
	tree=$(source_tree "$name")
	choose_options
	out=$top/$release-$(recipe)
	[ ! -e "$out/info" ] || return 0

	# Each build takes all CPUs.
	exec 6>"$(cache_dir kernels)/build.lock"
	flock -n 6 || { say "waiting for another kernel's build"; flock 6; }
	trap 'stop_building; rm -rf "$out"' EXIT
	trap 'stop_building; exit 130' INT TERM HUP
	rm -rf "$out"; mkdir -p "$out/build"
	o=$out/build log=$top/build.log
	: >"$log"
	tree=$(edited "$tree" "$out" "${fragments[@]}")
	make=(make -C "$tree" "O=$o" "ARCH=$arch" "-j$(nproc)" "${vars[@]}")
	configure_built
	compile_built
	keep_built
	trap - EXIT INT TERM HUP
	flock -u 6
	say "kernel $name is $release, built in $((SECONDS / 60)) min $((SECONDS % 60)) s, $(du -csm "$o" "$out/vmlinuz" | tail -n 1 | cut -f 1) MiB"
}

# edited TREE OUT FRAGMENT...: prints the sources to build from: these, or where a fragment has
# edits beside it, a copy with them.  A line of FRAGMENT.sed is a file and a command for sed.
edited()
{
	local tree=$1 out=$2 f file command copy
	copy=$out/${tree##*/}
	shift 2
	for f; do
		[ -e "${f%.config}.sed" ] || continue
		# Links cost no space, and sed -i makes a file of its own.
		[ -e "$copy" ] || cp -al "$tree" "$copy"
		while read -r file command; do
			case $file in ''|'#'*) continue ;; esac
			sed -i "$command" "$copy/$file"
			! cmp -s "$tree/$file" "$copy/$file" ||
				die "${f##*/}: '$command' changes nothing in $file of ${tree##*/}"
		done <"${f%.config}.sed"
	done
	if [ -e "$copy" ]; then echo "$copy"; else echo "$tree"; fi
}
