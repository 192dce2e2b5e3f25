// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Names of C++ and Rust functions, as people read them. */
#include "tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mangled_names;

jf_cxa_fn *demangler(void)
{
	static jf_cxa_fn *fn;
	static bool sought;
	void *lib;

	if (sought)
		return fn;
	sought = true;
	lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (lib)
		fn = (jf_cxa_fn *)(uintptr_t)dlsym(lib, "__cxa_demangle");
	return fn;
}

char *readable(const char *name)
{
	const char *colon = strchr(name, ':'), *symbol = colon ? colon + 1 : name;
	char *text = mangled_names ? NULL : jf_demangle(demangler(), symbol), *all;
	size_t group = (size_t)(symbol - name);

	if (!text)
		return strdup(name);
	all = malloc(group + strlen(text) + 1);
	if (all) {
		memcpy(all, name, group);
		memcpy(all + group, text, strlen(text) + 1);
	}
	free(text);
	return all;
}

void put_name(FILE *to, const char *name)
{
	char *text = readable(name);

	put_safe(to, text ? text : name);
	free(text);
}

/* --- text of babeltrace2 --------------------------------------------------------------------- */

static bool is_symbol(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

/* A name follows its group's colon. Text within quotation marks belongs to a field. */
static void put_line(FILE *to, char *line, size_t len)
{
	char *at = line, *end = line + len, *from = line, *next, *text, was;
	bool quoted = false;

	for (; at < end; at++) {
		if (*at == '\\' && quoted && at + 1 < end)
			at++;
		else if (*at == '"')
			quoted = !quoted;
		if (quoted || *at != ':' || end - at < 3 || at[1] != '_' || at[2] != 'Z')
			continue;
		for (next = at + 1; next < end && is_symbol(*next); next++)
			;
		was = *next;
		*next = 0;
		text = readable(at + 1);
		*next = was;
		fwrite(from, 1, (size_t)(at + 1 - from), to);
		fputs(text ? text : "?", to);
		free(text);
		from = next;
		at = next - 1;
	}
	fwrite(from, 1, (size_t)(end - from), to);
}

int copy_readable(int in, FILE *to)
{
	FILE *f = fdopen(in, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!f) {
		close(in);
		return fail("%s", strerror(errno));
	}
	while ((len = getline(&line, &room, f)) > 0)
		put_line(to, line, (size_t)len);
	free(line);
	fclose(f);
	return written(to);
}
