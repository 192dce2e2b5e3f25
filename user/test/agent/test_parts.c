// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The agent's readers of files: notes, their arguments, sections, symbols; good ones and broken
 * ones. usage: test_parts FILE, an object with the notes of subject.c
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/agent/elf.h"
#include "user/agent/note.h"
#include "user/agent/operand.h"
#include "user/agent/value.h"
#include "user/test/tap.h"
#include "user/trace/pattern.h"

/* --- arguments ------------------------------------------------------------------------- */

static void arguments(void)
{
	struct jf_operand o[JF_ARGS_MAX];
	int n;

	n = jf_operands("-4@%eax 8@$17 8@-80(%rbx) 4@8(%rax,%rcx,4) 1@%ah -2@$-3 8@%r15 2@%r9w 1@%dil", o, JF_ARGS_MAX);
	CHECK(n == 9, "%d arguments", n);
	CHECK(o[0].kind == JF_OPERAND_REG && o[0].size == 4 && o[0].sign && o[0].base == 0, "eax");
	CHECK(o[1].kind == JF_OPERAND_CONST && o[1].size == 8 && !o[1].sign && o[1].disp == 17, "17");
	CHECK(o[2].kind == JF_OPERAND_MEM && o[2].base == 3 && o[2].disp == -80 && o[2].index == JF_REG_NONE, "rbx");
	CHECK(o[3].kind == JF_OPERAND_MEM && o[3].base == 0 && o[3].index == 1 && o[3].scale == 4 && o[3].disp == 8, "sib");
	CHECK(o[4].kind == JF_OPERAND_REG && o[4].base == 0 && o[4].shift == 8 && o[4].size == 1, "ah");
	CHECK(o[5].kind == JF_OPERAND_CONST && o[5].disp == -3 && o[5].sign && o[5].size == 2, "-3");
	CHECK(o[6].base == 15 && o[7].base == 9 && o[7].size == 2 && o[8].base == 7 && o[8].size == 1, "registers");
	n = jf_operands("8@(%rsp) 8@(,%rdx,8) %rax -8@%rbp", o, JF_ARGS_MAX);
	CHECK(n == 4 && o[0].kind == JF_OPERAND_MEM && o[0].base == 4 && !o[0].disp, "(%%rsp)");
	CHECK(o[1].kind == JF_OPERAND_MEM && o[1].base == JF_REG_NONE && o[1].index == 2 && o[1].scale == 8, "no base");
	CHECK(o[2].kind == JF_OPERAND_REG && o[2].size == 8 && o[3].base == 5, "without a size");
	/* An unknown operand has its place. */
	n = jf_operands("8f@%xmm0 -4f@%xmm15 8f@-24(%rbp) 4f@$1", o, JF_ARGS_MAX);
	CHECK(n == 4 && o[0].kind == JF_OPERAND_VECTOR && o[0].real && o[0].size == 8 && !o[0].base, "a double");
	CHECK(o[1].kind == JF_OPERAND_VECTOR && o[1].real && o[1].size == 4 && o[1].base == 15, "a float");
	CHECK(o[2].kind == JF_OPERAND_MEM && o[2].real && o[2].disp == -24, "a double in memory");
	CHECK(o[3].kind == JF_OPERAND_NONE, "no number with a point");

	n = jf_operands("8@%xmm0 8f@%xmm16 4@foo(%rip) 4@foo+8(%rip) 3@%eax 4@(%eax) 8@%rxx 4@8(%rax,%rcx,3) 4@$ 4@%eax", o, JF_ARGS_MAX);
	CHECK(n == 10, "%d arguments", n);
	while (n-- > 1)
		CHECK(o[n - 1].kind == JF_OPERAND_NONE, "%d is read", n - 1);
	CHECK(o[9].kind == JF_OPERAND_REG, "the last one is not");
	CHECK(jf_operands("", o, JF_ARGS_MAX) == 0 && jf_operands("   ", o, JF_ARGS_MAX) == 0, "none");
	CHECK(jf_operands("4@%eax 4@%eax 4@%eax", o, 2) == 2, "too many");
	finish("a note's arguments");
}

/* --- patterns --------------------------------------------------------------------------- */

/*
 * Why @text is no pattern, or the empty text. At the end of the memory, so that the sanitizer
 * sees reads beyond it.
 */
static const char *parsed(struct jf_pattern *p, const char *text)
{
	char *exact = strdup(text);
	int err = jf_pattern_parse(p, exact);

	free(exact);
	CHECK(err == (*p->why ? -EINVAL : 0), "%s: %d", text, err);
	return p->why;
}

static void pattern_filters(void)
{
	struct jf_pattern p;

	CHECK(!jf_pattern_parse(&p, "call>1ms/a:f(X const&) if ret == (int)3 max 7"), "%s", p.why);
	CHECK(!strcmp(p.glob, "a:f(X const&)") && p.min == 1000000, "'%s', %lu", p.glob, p.min);
	CHECK(!strcmp(p.choice, "if ret == (int)3 max 7"), "'%s'", p.choice);
	CHECK(!jf_pattern_parse(&p, "f(_,string) if(a < 3)") && !strcmp(p.glob, "f"), "%s", p.why);
	CHECK(p.strings == 2 && !strcmp(p.choice, "if(a < 3)"), "%x, '%s'", p.strings, p.choice);
	CHECK(!jf_pattern_parse(&p, "a:b") && !*p.choice, "'%s'", p.choice);
	CHECK(!strcmp(jf_pattern_types("f(string) if (a)"), "(string) if (a)"), "its begin");
	CHECK(*jf_pattern_types("f if (a)") == ' ', "brackets of an expression");
	CHECK(strstr(parsed(&p, "f if a >"), "column 4: "), "'%s'", p.why);
	CHECK(!jf_pattern_parse(&p, "event/f if a") && !strcmp(p.choice, "if a"), "%s", p.why);
	CHECK(strstr(parsed(&p, " if a"), "empty"), "'%s'", p.why);
	finish("patterns with filters");
}

static void members(struct jf_pattern *p)
{
	CHECK(!*parsed(p, "m:pay(order->price, order[1].name ,_,string)") && !strcmp(p->glob, "m:pay"), "%s", p->why);
	CHECK(!strcmp(p->members, "order->price,order[1].name") && p->strings == 2, "'%s', %x", p->members, p->strings);
	CHECK(!jf_pattern_parse(p, "call>1ms/pay(o.x) if o->n > 3") && !strcmp(p->members, "o.x") && !strcmp(p->choice, "if o->n > 3"), "'%s'", p->members);
	CHECK(!*parsed(p, "operator()(o->x)") && !strcmp(p->glob, "operator()") && !strcmp(p->members, "o->x"), "'%s'", p->members);
	CHECK(!*parsed(p, "a(o->x, int*)") && !*p->members, "types of C++: '%s'", p->members);
	CHECK(strstr(parsed(p, "a(o->x,int)"), "'int'"), "'%s'", p->why);
	CHECK(!*parsed(p, "a(o->x,o->)") && !*p->members, "'%s', '%s'", p->why, p->members);
	CHECK(strstr(parsed(p, "a(a.b,a.b,a.b,a.b,a.b,a.b,a.b,a.b,a.b)"), "more than 8 members"), "'%s'", p->why);
	CHECK(strstr(parsed(p, "note/a(o->x)"), "functions' arguments") && strstr(parsed(p, "event/a(o->x)"), "functions' arguments"), "'%s'", p->why);
	CHECK(strstr(parsed(p, "time/a(o->x)"), "sums of calls"), "'%s'", p->why);
	CHECK(strstr(parsed(p, "call/a(string,o->x)"), "as a string"), "'%s'", p->why);
}

static void patterns(void)
{
	static const char *const good[] = { "a", "a:b*", "a()", "a(_)", "a(,string)", "a(__,_,string)", "[a-b]?(,,,,,,,,,,,string)", "a(string,string,string,string,)" };
	static const char *const cxx[] = {
		"a(int)", "a(int, char)", "a(Order)", "prog:shop::price_of(Order const&)", "(anonymous namespace)::a", "a(void (*)(int), long)",
		"a(std::string)", "x::operator()(int) const", "a(strings*)", "a(...)", "a(*)", "std::pair<int, long> a<int, long>(int)",
		"operator,(X const&, int)", "x::operator<(X const&, int)", "a[abi:cxx11](int (&) [3])", "<A as B<K,V>>::f<K,V>", "operator-><int, X>(X)",
	};
	static const struct {
		const char	*text;
		const char	*why;
	} bad[] = {
		{ "", "empty" }, { "note/", "empty" }, { "function/(string)", "no name" }, { "(string)", "no name" }, { "a,b", "comma" }, { "a,b(string)", "comma" },
		{ "a(strin)", "'strin' in its brackets is neither string" }, { "a(string,int)", "'int'" },
		{ "a(int", "brackets" }, { "a(int))", "brackets" }, { "a(int),b", "comma" }, { "a<int,b", "comma" }, { "operator<,b", "comma" }, { "a<b>,c", "comma" }, { "a(order)", "'order'" },
		{ "a(", "brackets" }, { "a(string", "brackets" }, { "a)", "brackets" }, { "a(string)b", "brackets" },
		{ "a(string))", "brackets" }, { "a(string)(string)", "brackets" },
		{ "a(string,string,string,string,string)", "more than 4" }, { "a(,,,,,,,,,,,,string)", "more than 12" },
	};
	char longest[JF_PATTERN_MAX + 1];
	struct jf_pattern p;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK(!*parsed(&p, good[i]), "%s: %s", good[i], p.why);
	CHECK(p.strings == 15 && !strcmp(p.glob, "a"), "%s, %x", p.glob, p.strings);
	CHECK(!*parsed(&p, good[6]) && p.strings == 1 << 11 && !strcmp(p.glob, "[a-b]?"), "%s, %x", p.glob, p.strings);
	CHECK(!*parsed(&p, "a:b") && p.kind == JF_KIND_ANY, "%d", p.kind);
	CHECK(!*parsed(&p, "note/a:b") && p.kind == JF_KIND_NOTE && !strcmp(p.glob, "a:b"), "%d, %s", p.kind, p.glob);
	CHECK(!*parsed(&p, "function/*") && p.kind == JF_KIND_FUNCTION && !strcmp(p.glob, "*"), "%d, %s", p.kind, p.glob);
	CHECK(!*parsed(&p, "call/a:*") && p.kind == JF_KIND_CALL && !strcmp(p.glob, "a:*"), "%d, %s", p.kind, p.glob);
	CHECK(*parsed(&p, "call/a(string)"), "of a call");
	members(&p);
	CHECK(!*parsed(&p, "call>20us/a:*") && p.kind == JF_KIND_CALL, "%d", p.kind);
	CHECK(p.min == 20000 && !strcmp(p.glob, "a:*"), "%lu, %s", p.min, p.glob);
	CHECK(!*parsed(&p, "call>999999999s/a") && p.min == 999999999000000000, "%lu", p.min);
	CHECK(*parsed(&p, "call>1/a") && *parsed(&p, "call>ms/a"), "no duration");
	CHECK(*parsed(&p, "call>1msx/a") && *parsed(&p, "call>1234567890s/a"), "no duration");
	CHECK(!*parsed(&p, "event/a(string)") && p.kind == JF_KIND_EVENT && p.strings == 1, "%d, %x", p.kind, p.strings);
	CHECK(!*parsed(&p, "a::operator()") && !strcmp(p.glob, "a::operator()"), "%s", p.glob);
	CHECK(!*parsed(&p, "operator()(_,string)") && !strcmp(p.glob, "operator()") && p.strings == 2, "%s", p.glob);
	CHECK(!*parsed(&p, "site/a") && p.kind == JF_KIND_ANY && !strcmp(p.glob, "site/a"), "%d, %s", p.kind, p.glob);
	for (i = 0; i < sizeof(cxx) / sizeof(*cxx); i++)
		CHECK(!*parsed(&p, cxx[i]) && !strcmp(p.glob, cxx[i]) && !p.strings, "%s: '%s', '%s', %x", cxx[i], p.why, p.glob, p.strings);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(strstr(parsed(&p, bad[i].text), bad[i].why), "%s: '%s'", bad[i].text, p.why);
	memset(longest, 'x', sizeof(longest));
	longest[JF_PATTERN_MAX] = 0;
	CHECK(strstr(parsed(&p, longest), "more than 255"), "'%s'", p.why);
	longest[JF_PATTERN_MAX - 1] = 0;
	CHECK(!*parsed(&p, longest) && !strcmp(p.glob, longest), "'%s'", p.why);
	memcpy(longest, "a(", 2);
	longest[JF_PATTERN_MAX - 2] = ')';
	CHECK(strstr(parsed(&p, longest), "xxx...'"), "'%s'", p.why);
	finish("patterns");
}

/* --- notes ------------------------------------------------------------------------------ */

struct seen {
	int		num;
	struct jf_note	last;
};

static int see(const struct jf_note *note, void *arg)
{
	struct seen *s = arg;

	s->num++;
	s->last = *note;
	return 0;
}

static size_t put_note(uint8_t *to, const char *owner, uint32_t type, const char *texts, size_t size)
{
	uint32_t head[3] = { 8, (uint32_t)(24 + size), type };
	uint64_t words[3] = { 0x1000, 0x2000, 0x3000 };

	memcpy(to, head, 12);
	memcpy(to + 12, owner, 8);
	memcpy(to + 20, words, 24);
	memcpy(to + 44, texts, size);
	return (44 + size + 3) & ~(size_t)3;
}

static void notes(void)
{
	uint8_t buf[256] = { 0 };
	struct jf_section s = { buf, 0, 0 };
	struct seen seen = { 0 };
	size_t len, cut;

	len = put_note(buf, "stapsdt", 3, "prov\0name\0" "8@%rax", 17);
	s.size = len;
	CHECK(jf_notes(&s, 0, see, &seen) == 0 && seen.num == 1, "%d notes", seen.num);
	CHECK(!strcmp(seen.last.provider, "prov") && !strcmp(seen.last.name, "name") &&
	      !strcmp(seen.last.args, "8@%rax") && seen.last.pc == 0x1000 && seen.last.semaphore == 0x3000, "wrong");
	/* It was moved. */
	jf_notes(&s, 0x2500, see, &seen);
	CHECK(seen.last.pc == 0x1500 && seen.last.semaphore == 0x3500, "%llx", (unsigned long long)seen.last.pc);
	/* Others' are passed over. */
	s.size = len + put_note(buf + len, "another", 3, "p\0n\0", 5);
	s.size += put_note(buf + s.size, "stapsdt", 4, "p\0n\0", 5);
	seen.num = 0;
	CHECK(jf_notes(&s, 0, see, &seen) == 0 && seen.num == 1, "%d notes", seen.num);
	/* Cut off anywhere: no note, or that note. */
	for (cut = 0; cut < len; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);
		struct jf_section part = { exact, cut, 0 };

		memcpy(exact, buf, cut);
		seen.num = 0;
		jf_notes(&part, 0, see, &seen);
		CHECK(!seen.num || cut >= 61, "%zu bytes are a note", cut);
		free(exact);
	}
	/* Too short for its addresses, at the end of all. */
	for (cut = 0; cut < 24; cut += 4) {
		uint32_t head[3] = { 8, (uint32_t)cut, 3 };
		uint8_t *exact = malloc(20 + cut);
		struct jf_section part = { exact, 20 + cut, 0 };

		memcpy(exact, head, 12);
		memcpy(exact + 12, "stapsdt", 8);
		memset(exact + 20, 'a', cut);
		seen.num = 0;
		CHECK(jf_notes(&part, 0, see, &seen) == 0 && !seen.num, "%zu bytes are a note", cut);
		free(exact);
	}
	/* No end of a text, no name. */
	s.size = put_note(buf, "stapsdt", 3, "prov\0name\0aaaaaa", 16);
	seen.num = 0;
	CHECK(jf_notes(&s, 0, see, &seen) == 0 && !seen.num, "a text without an end");
	s.size = put_note(buf, "stapsdt", 3, "prov\0\0", 7);
	CHECK(jf_notes(&s, 0, see, &seen) == 0 && !seen.num, "no name");
	finish("notes");
}

/* --- files ------------------------------------------------------------------------------- */

static int count(const struct jf_symbol *s, void *arg)
{
	if (!strcmp(s->name, "subject_twice"))
		++*(int *)arg;
	return 0;
}

static void file(const char *path)
{
	int fd = open(path, O_RDONLY), twice = 0;
	struct jf_section notes_of;
	struct seen seen = { 0 };
	struct jf_elf elf;
	struct stat st;
	uint8_t *data;
	size_t i;

	must(fd < 0 || fstat(fd, &st) ? -errno : 0, path);
	data = malloc((size_t)st.st_size);
	if (read(fd, data, (size_t)st.st_size) != st.st_size)
		must(-EIO, path);
	close(fd);
	elf = (struct jf_elf){ data, (size_t)st.st_size };
	CHECK(jf_elf_check(&elf) == 0, "it is none");
	notes_of = jf_elf_section(&elf, ".note.stapsdt");
	CHECK(notes_of.data && jf_notes(&notes_of, 0, see, &seen) == 0 && seen.num == 7, "%d notes", seen.num);
	CHECK(jf_elf_functions(&elf, count, &twice) == 0 && twice == 2, "%d times", twice);
	CHECK(!jf_elf_section(&elf, ".nothing").data, "there is");
	/*
	 * Broken anywhere in its headers, and cut off: nothing is read that is not there (the
	 * sanitizer sees it).
	 */
	for (i = 0; i < 64 + 400; i++) {
		size_t at = i < 64 ? i : (size_t)st.st_size - (i - 64) * 4 - 1;
		uint8_t was = data[at];

		data[at] ^= (uint8_t)(0x5a + i);
		if (!jf_elf_check(&elf)) {
			notes_of = jf_elf_section(&elf, ".note.stapsdt");
			if (notes_of.data)
				jf_notes(&notes_of, 0, see, &seen);
			jf_elf_functions(&elf, count, &twice);
		}
		data[at] = was;
	}
	for (i = 0; i < 64; i++) {
		size_t len = (size_t)st.st_size * i / 64;
		uint8_t *exact = malloc(len ? len : 1);

		memcpy(exact, data, len);
		elf = (struct jf_elf){ exact, len };
		if (!jf_elf_check(&elf)) {
			notes_of = jf_elf_section(&elf, ".note.stapsdt");
			jf_elf_functions(&elf, count, &twice);
		}
		free(exact);
	}
	free(data);
	finish("a file, whole and broken");
}

/* Names that end with the file, without a 0. */
static void no_end(void)
{
	const size_t names = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr), size = names + 8;
	Elf64_Ehdr h = { .e_machine = EM_X86_64, .e_shoff = sizeof(h), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3 };
	Elf64_Shdr s[3] = {
		{ .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = 8 },
		{ .sh_type = SHT_SYMTAB, .sh_offset = sizeof(Elf64_Ehdr), .sh_size = 2 * sizeof(Elf64_Sym) },
		{ .sh_type = SHT_PROGBITS, .sh_name = 4 },
	};
	uint8_t *exact = malloc(size);
	struct jf_elf elf = { exact, size };
	int twice = 0;

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(exact, &h, sizeof(h));
	memcpy(exact + sizeof(h), s, sizeof(s));
	memcpy(exact + names, "abc\0abcd", 8);
	CHECK(jf_elf_check(&elf) == 0, "it is none");
	CHECK(!jf_elf_section(&elf, "abcd").data, "a name without an end");
	CHECK(jf_elf_functions(&elf, count, &twice) == 0 && !twice, "%d times", twice);
	/* With one it is found: all else is as it should be. */
	exact[size - 1] = 0;
	CHECK(jf_elf_section(&elf, "abc").data, "there is none");
	free(exact);
	finish("names that do not end");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	arguments();
	patterns();
	pattern_filters();
	notes();
	file(argv[1]);
	no_end();
	return tap_end();
}
