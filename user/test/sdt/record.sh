#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# SDT probes that are patched sites, recorded: by the environment from the first one on, in objects that are
# loaded later, by calls, and no longer.
# usage: record.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
flags="-O2 -Wall -Wextra -Werror -I$user/../include -I$user/../include/jumpfunc-sdt"
link="-L$builds -Wl,--no-as-needed -ljumpfunc-trace -ljumpfunc -Wl,-rpath,$builds -ldl"

cat > "$tmp/plugin.c" <<'END'
#include <sys/sdt.h>
void late(short s);
void late(short s)
{
	DTRACE_PROBE1(jflate, hit, s);
}
END
cat > "$tmp/program.c" <<'END'
#include <dlfcn.h>
#include <sys/sdt.h>

#include <jumpfunc/record.h>

static void early(int i)
{
	DTRACE_PROBE3(jfearly, request, i - 1, (unsigned char)200, i * 0.5);
	DTRACE_PROBE(jfearly, done);
}

__attribute__((constructor)) static void begin(void)
{
	early(0);
}

int main(int argc, char **argv)
{
	void (*late)(short);
	void *plugin;

	(void)argc;
	early(1);
	plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin)
		return 1;
	__extension__ late = (void (*)(short))dlsym(plugin, "late");
	late(-7);
	dlclose(plugin);
	/* The subscription went with the object, and comes with it. */
	plugin = dlopen(argv[1], RTLD_NOW);
	__extension__ late = (void (*)(short))dlsym(plugin, "late");
	late(-8);
	if (jf_record_disable("jfearly:done") != 1)
		return 2;
	early(2);
	if (jf_record_enable("done") != 1 || jf_record_enable("jfearly:*") != 2)
		return 3;
	early(3);
	return jf_record_stop() ? 4 : 0;
}
END

build()
{
	# shellcheck disable=SC2086
	$CC $flags -fPIC -shared -o "$tmp/plugin.so" "$tmp/plugin.c" $link &&
		$CC $flags -o "$tmp/program" "$tmp/program.c" $link
}

# Each line: the event and its fields.
recorded()
{
	rm -rf "$tmp/trace" && mkdir "$tmp/trace" &&
		JUMPFUNC_TRACE="$1" JUMPFUNC_TRACE_DIR=$tmp/trace "$tmp/program" "$tmp/plugin.so" || return 1
	babeltrace2 "$tmp"/trace/* > "$tmp/text" || return 1
	sed 's/.*) \([a-z]*:[a-z]*\): { tid = [0-9]* }, { *\(.*\) *}/\1 \2/; s/ *$//' "$tmp/text" > "$tmp/events"
	cat "$tmp/events"
}

all()
{
	recorded 'jf*:*' && cat > "$tmp/expected" <<-'END' && diff "$tmp/expected" "$tmp/events"
	jfearly:request arg1 = -1, arg2 = 200, arg3 = 0
	jfearly:done
	jfearly:request arg1 = 0, arg2 = 200, arg3 = 0.5
	jfearly:done
	jflate:hit arg1 = -7
	jflate:hit arg1 = -8
	jfearly:request arg1 = 1, arg2 = 200, arg3 = 1
	jfearly:request arg1 = 2, arg2 = 200, arg3 = 1.5
	jfearly:done
	END
}

if ! have babeltrace2; then
	skip "recorded from the first one on, and in objects that are loaded later" "apt-get install babeltrace2"
else
	check "it compiles" build
	check "recorded from the first one on, and in objects that are loaded later" all
fi
tap_end
