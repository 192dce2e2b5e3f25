// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Globs of probes: the meaning of each, and that fnmatch() agrees in the locale "C". */
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/test/tap.h"
#include "user/trace/glob.h"

#define ROUNDS	300000

static const struct {
	const char	*glob;
	const char	*name;
	bool		matches;
} vectors[] = {
	{ "", "", true }, { "", "a", false }, { "a", "", false }, { "a", "a", true }, { "a", "ab", false },
	{ "*", "", true }, { "*", "/.a", true }, { "**", "a", true }, { "*a", "aaa", true }, { "*ab*b", "xabab", true },
	{ "*ab*b", "xaba", false }, { "a*", "b", false }, { "?", "", false }, { "?", "a", true }, { "?b", "ab", true },
	{ "?", "\xc3\xa4", false }, { "??", "\xc3\xa4", true }, { "[\xa0-\xff]", "\xe4", true },
	{ "[abc]", "b", true }, { "[abc]", "d", false }, { "[abc]", "", false }, { "[a-c]x", "bx", true },
	{ "[a-c]", "d", false }, { "[c-a]", "b", false }, { "[!a-c]", "d", true }, { "[^a-c]", "d", true },
	{ "[!a-c]", "b", false }, { "[]]", "]", true }, { "[!]]", "]", false }, { "[!]]", "a", true }, { "[]a]x", "ax", true },
	{ "[a-]", "-", true }, { "[-a]", "-", true }, { "[--/]", ".", true }, { "[a\\]b]", "]", true }, { "[\\!a]", "!", true },
	{ "[a", "[a", true }, { "[a", "a", false }, { "[", "[", true }, { "x[", "x[", true }, { "[]", "[]", true },
	{ "\\*", "*", true }, { "\\*", "a", false }, { "\\[a]", "[a]", true }, { "\\", "\\", false }, { "a\\", "a", false },
	{ "read[[:digit:]]", "read1", true }, { "read[[:digit:]]", "reada", false }, { "[[:upper:]_]", "_", true },
	{ "[![:space:]]", " ", false }, { "*[[:alnum:]]x", "a1x", true }, { "[a[:digit:]z]", "5", true },
	{ "f[abi:cxx11](int (&) [3])", "f[abi:cxx11](int (&) [3])", true }, { "[a]", "[a]", true }, { "[a]*", "[a]b", false },
};

/* Names are globs of themselves, unlike fnmatch(). */
static bool is_itself(const char *glob, const char *name)
{
	return !strcmp(glob, name) && !strchr(glob, '\\');
}

static void test_vectors(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
		CHECK(jf_glob_matches(vectors[i].glob, vectors[i].name) == vectors[i].matches, "'%s' and '%s'",
		      vectors[i].glob, vectors[i].name);
	finish("what a glob means");
}

static void test_probes(void)
{
	char longer[600];

	CHECK(jf_glob_matches_probe(NULL, "g", "n"), "NULL");
	CHECK(jf_glob_matches_probe("g:n", "g", "n") && jf_glob_matches_probe("n", "g", "n"), "names");
	CHECK(!jf_glob_matches_probe("g", "g", "n") && !jf_glob_matches_probe("n:g", "g", "n"), "the group alone");
	CHECK(jf_glob_matches_probe("*:n", "a:b", "n"), "a colon in the group");
	CHECK(jf_glob_matches_probe("g:n[abi:v2](X)", "g", "n[abi:v2](X)") && !jf_group_end("n[abi:v2](X)") && !strcmp(jf_group_end("g:n[abi:v2]"), ":n[abi:v2]"), "a tag");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CHECK(jf_glob_matches_probe("*", "g", longer) && jf_glob_matches_probe("g:*", "g", longer) &&
	      jf_glob_matches_probe("g:a*a", "g", longer), "a long name");
	CHECK(!jf_glob_matches_probe("h:*", "g", longer) && !jf_glob_matches_probe("g:*b", "g", longer) &&
	      !jf_glob_matches_probe("g:a", "g", longer), "the end of a long name");
	longer[sizeof(longer) - 2] = 'b';
	CHECK(jf_glob_matches_probe("g:*b", "g", longer) && jf_glob_matches_probe("?:a*[b-c]", "g", longer) &&
	      !jf_glob_matches_probe("g:*a", "g", longer), "the last character of a long name");
	CHECK(jf_glob_matches_probe("*b:n", longer, "n") && !jf_glob_matches_probe("*a:n", longer, "n"), "a long group");
	finish("group and name");
}

static uint64_t state = 0x6a756d7066756e63;

static unsigned int below(unsigned int max)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % max;
}

static const char letters[] = "abcd-!^]/_1\xe4";

/* The contents of brackets, as a glob has it that has an end. */
static size_t make_set(char *to)
{
	static const char *const words[] = { "[:alpha:]", "[:digit:]", "[:punct:]", "a-c", "B-b", "\\]", "\\a", "\\-", "*", "?" };
	unsigned int i, n = 1 + below(3);
	size_t len = 0;

	to[len++] = '[';
	if (!below(3))
		to[len++] = "!^"[below(2)];
	if (!below(6))
		to[len++] = ']';
	for (i = 0; i < n; i++) {
		if (below(2)) {
			to[len++] = "abcd/_1\xe4"[below(8)];
		} else {
			const char *word = words[below(sizeof(words) / sizeof(*words))];

			memcpy(to + len, word, strlen(word));
			len += strlen(word);
		}
	}
	to[len++] = ']';
	return len;
}

static void make_glob(char *to)
{
	unsigned int i, n = below(6);
	size_t len = 0;

	for (i = 0; i < n; i++) {
		switch (below(6)) {
		case 0:
			to[len++] = '*';
			break;
		case 1:
			to[len++] = '?';
			break;
		case 2:
			len += make_set(to + len);
			break;
		case 3:
			to[len++] = '\\';
			to[len++] = "*?[\\a"[below(5)];
			break;
		default:
			to[len++] = letters[below(sizeof(letters) - 1)];
		}
	}
	to[len] = 0;
}

static size_t make_name(char *to)
{
	unsigned int k, n = below(6);

	for (k = 0; k < n; k++)
		to[k] = below(8) ? letters[below(sizeof(letters) - 1)] : "*?[\\"[below(4)];
	to[n] = 0;
	return n;
}

static void test_fnmatch(void)
{
	unsigned int i, matched = 0;
	char glob[256], name[16];

	/* The locale is "C": this program has chosen none. */
	for (i = 0; i < ROUNDS; i++) {
		bool ours;

		make_glob(glob);
		make_name(name);
		ours = jf_glob_matches(glob, name);
		matched += ours;
		CHECK(ours == (!fnmatch(glob, name, 0) || is_itself(glob, name)), "'%s' and '%s': %d", glob, name, ours);
	}
	CHECK(matched > ROUNDS / 100, "only %u matched", matched);
	finish("fnmatch() says the same");
}

/*
 * Of a probe as of its group, a colon and its name in one: the part in front of the glob's may be
 * of the name.
 */
static void test_fnmatch_probes(void)
{
	char glob[512], full[32], *name;
	unsigned int i, matched = 0;

	for (i = 0; i < ROUNDS; i++) {
		size_t len = make_name(full);
		bool ours, theirs;

		make_glob(glob);
		strcat(glob, ":");
		make_glob(glob + strlen(glob));
		full[len] = ':';
		name = full + len + 1;
		make_name(name);
		if (!below(4))
			name[0] = ':', name[1] = 0;
		theirs = !fnmatch(glob, full, 0);
		full[len] = 0;
		theirs |= !strncmp(glob, full, len) && glob[len] == ':' && is_itself(glob + len + 1, name);
		ours = jf_glob_matches_probe(glob, full, name);
		matched += ours;
		CHECK(ours == theirs, "'%s' and '%s', '%s': %d", glob, full, name, ours);
	}
	CHECK(matched > ROUNDS / 100, "only %u matched", matched);
	finish("... of group and name as of both in one");
}

int main(void)
{
	printf("TAP version 13\n");
	test_vectors();
	test_probes();
	test_fnmatch();
	test_fnmatch_probes();
	return tap_end();
}
