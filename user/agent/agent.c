// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc-agent: its begin, and requests by the environment.
 *
 * Environment:
 *   JUMPFUNC_AGENT=glob,glob...
 *	record these from before main() on: "provider:name" of notes, "name" or "object:name" of
 *	functions; "fopen(string,string)" for arguments that are strings; "note/" or "function/"
 *	before it: of these alone; "call/": calls of functions, from entry to exit;
 *	"work if level > 3": records that are made (trace/choice.h);
 *	"pay(order->price)": members that are recorded, too
 *   JUMPFUNC_AGENT_STRINGS=always
 *	read strings where there is a filter of system calls, too
 *   JUMPFUNC_AGENT_WAYS=way,way...
 *	only these: jump, short, span, break; without it, all but break
 *   JUMPFUNC=verbose
 *	name each probe that cannot be recorded, with the reason, and each breakpoint
 * and the variables of <jumpfunc/record.h>.
 *
 * A glob that has nothing but wildcards where a function's name is means no function, unless it
 * says which object, or "function/" precedes it: "*" would be all of libc.
 */
#include "request.h"
#include "come.h"
#include "match.h"
#include "batch.h"
#include "wish.h"
#include "say.h"
#include "object.h"
#include "detour.h"
#include "types.h"
#include "module.h"
#include "share.h"
#include "aside.h"
#include "follow.h"
#include "seccomp.h"

#include <string.h>

#include <jumpfunc/record.h>

#include "user/trace/choice.h"
#include "user/trace/kind.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"

static void set_ways(const char *text)
{
	static const char *const names[] = {
		[JF_WAY_JUMP] = "jump", [JF_WAY_SHORT] = "short", [JF_WAY_SPAN] = "span",
		[JF_WAY_BREAK] = "break", [JF_WAY_BESIDE] = "beside",
	};
	unsigned int ways = 0, i;
	size_t len;

	for (; *text; text += text[len] == ',' ? len + 1 : len) {
		len = strcspn(text, ",");
		for (i = JF_WAY_JUMP; i <= JF_WAY_BESIDE; i++)
			if (strlen(names[i]) == len && !strncmp(names[i], text, len))
				ways |= 1U << i;
	}
	if (ways)
		jf_ways = ways;
}

/* The next pattern of the list, for free(). NULL: none, or no memory. */
static char *take_pattern(const char **globs)
{
	const char *begin = *globs + strspn(*globs, ",");
	size_t len = (size_t)(jf_choice_comma(begin) - begin);
	char *text = len ? strndup(begin, len) : NULL;

	*globs = begin + len;
	if (len && !text)
		jf_say("libjumpfunc-agent: no memory");
	return text;
}

/* As make_function(), for functions beside each other that several patterns name. */
static void make_all(const char *globs)
{
	struct jf_pattern p;
	struct ask a = { .glob = p.glob, .exits = true };
	char *text;

	jf_agent_lock();
	jf_modules(jf_module_demangler, NULL);
	while ((text = take_pattern(&globs))) {
		if (!jf_pattern_parse(&p, text) && jf_means_functions(&p))
			for (a.kind = JF_KIND_FUNCTION; a.kind <= JF_KIND_CALL; a.kind++)
				if (jf_means(&p, a.kind))
					jf_modules(jf_functions_make, &a);
		free(text);
	}
	jf_agent_unlock();
}

static void by_environment(const char *globs)
{
	struct jf_pattern p;
	char *text;

	if (*jf_choice_comma(globs) && !jf_shadow_stack())
		make_all(globs);
	while ((text = take_pattern(&globs))) {
		if (jf_pattern_parse(&p, text))
			jf_say("libjumpfunc-agent: '%.80s%s' is no pattern of probes: %s", text, strlen(text) > 80 ? "..." : "", p.why);
		else
			jf_ask_for(text);
		free(text);
	}
	if (jf_breakpoints)
		jf_say("libjumpfunc-agent: %u probe%s by breakpoint: a thread that blocks SIGTRAP dies there%s", jf_breakpoints,
		    jf_breakpoints > 1 ? "s are" : " is", jf_verbose ? "" : " (JUMPFUNC=verbose names them)");
}

const char __jf_agent = 1;

static void begin(void)
{
	const char *globs = secure_getenv("JUMPFUNC_AGENT"), *text;

	text = secure_getenv("JUMPFUNC");
	jf_verbose = text && !strcmp(text, "verbose");
	text = secure_getenv("JUMPFUNC_AGENT_WAYS");
	if (text)
		set_ways(text);
	text = secure_getenv("JUMPFUNC_AGENT_STRINGS");
	jf_filter_begin(text && !strcmp(text, "always"));
	jf_types_begin(secure_getenv("JUMPFUNC_AGENT_TYPES"));
	jf_clock_begin();
	jf_share_begin();
	jf_follow_begin();
	jf_modules_begin();
	/*
	 * The program may have brought its own. A provider that this one does not know is not
	 * switched off, and fork() takes no care of it.
	 */
	if (jf_providers_register()) {
		jf_say("libjumpfunc-agent: the libjumpfunc-trace of this program is of another version; nothing is recorded");
		return;
	}
	if (globs && *globs)
		by_environment(globs);
}

/*
 * As those of a program begin, whose own are later; libjumpfunc-trace's have been. The environment
 * is not looked at after it: it is the program's. The thread of the control socket comes last.
 */
__attribute__((__constructor__))
static void begins(void)
{
	jf_agent_busy++;
	begin();
	__jf_control_by_environment();
	jf_agent_busy--;
}

/*
 * jf-trace has loaded the agent into a process that runs, and calls this on one of its threads. As
 * the constructor has done the rest, the socket is all that lacks. 0 or -errno.
 */
extern int __jf_agent_attach(void);

__attribute__((__visibility__("default")))
int __jf_agent_attach(void)
{
	int err;

	jf_agent_busy++;
	err = jf_record_control(true);
	jf_agent_busy--;
	return err == -EBUSY ? 0 : err;
}
