// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory of the program that a thread comes by with a pointer to: strings, and members of
 * structures. The kernel copies them, so an address that leads nowhere ends no program. No filter
 * of system calls is asked for that (seccomp.c).
 */
#include "memory.h"
#include "value.h"
#include "saved.h"
#include "seccomp.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "user/trace/choice.h"
#include "user/trace/pattern.h"

/*
 * Pages that are asked of the kernel one at a time: the readable part of a string is read, whatever
 * follows it.
 */
#define PAGE		4096UL

/**
 * struct scratch - where a thread has strings until it is known how long they are
 * @taken: by a record that a signal handler has interrupted
 * @text:  the strings, each with its end
 */
struct scratch {
	bool	taken;
	char	text[JF_STRINGS_MAX * JF_STRING_SIZE];
};

static __thread struct scratch scratch __attribute__((__tls_model__("initial-exec")));

/*
 * NULL: a record has it. A handler that comes in between has given it back before it returns. One
 * that has left by longjmp() never does.
 */
char *jf_scratch_take(void)
{
	if (scratch.taken)
		return NULL;
	scratch.taken = true;
	/* Pairs with the load above, of a handler. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return scratch.text;
}

void jf_scratch_give(void)
{
	/* Pairs with the load of jf_scratch_take(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	scratch.taken = false;
}

unsigned int jf_word(char *to, const char *word)
{
	unsigned int n = 0;

	while ((to[n] = word[n]))
		n++;
	return n + 1;
}

/*
 * The string is longer, or goes on where nothing can be read: @len bytes of it are there, and room
 * for @size.
 */
static unsigned int put_dots(char *to, unsigned int len, unsigned int size)
{
	if (len > size - sizeof("..."))
		len = size - sizeof("...");
	return len + jf_word(to + len, "...");
}

#define NULL_STRING	-1
#define SECCOMP_STRING	-2

/*
 * At most @size bytes from @from on; how many, or 0: none can be read. The kernel copies them,
 * once, for which an address that leads nowhere is an error and no signal; so does a memory that
 * another thread unmaps.
 */
static long read_string(char *to, unsigned int size, uint64_t from)
{
	unsigned long first = PAGE - from % PAGE;
	struct iovec own = { to, size };
	struct iovec parts[2] = {
		{ (void *)from, first < size ? first : size },
		{ (void *)(from + first), first < size ? size - first : 0 },
	};
	long got;

	if (!from)
		return NULL_STRING;
	/* Pairs with jf_watch_call(): it waits for this section before others have its filter. */
	if (__atomic_load_n(&jf_filtered, __ATOMIC_SEQ_CST))
		return SECCOMP_STRING;
	/* By this thread: the first one may have ended, and has no memory then. */
	got = call6(SYS_process_vm_readv, call4(SYS_gettid, 0, 0, 0, 0), (long)&own, 1, (long)parts, parts[1].iov_len ? 2 : 1, 0);
	return got < 0 ? 0 : got;
}

/* With its end, of at most @size bytes: longer ones are cut. */
unsigned int jf_memory_string(char *to, unsigned int size, uint64_t from)
{
	long got = read_string(to, size, from);
	unsigned int n;

	if (got <= 0)
		return jf_word(to, got == NULL_STRING ? "(null)" : got == SECCOMP_STRING ? "(seccomp)" : "(unreadable)");
	for (n = 0; n < (unsigned long)got && to[n]; n++)
		;
	return n < (unsigned long)got ? n + 1 : put_dots(to, n, size);
}

/**
 * jf_memory_text() - the result of JF_STEP_TEXT for memory of the program
 * @step: it
 * @from: where the text is
 *
 * A text that cannot be read, or must not, is unknown: no test holds.
 */
__attribute__((__noinline__))
bool jf_memory_text(const struct jf_step *step, uint64_t from)
{
	char text[JF_CHOICE_TEXT];
	long got = read_string(text, sizeof(text), from), n;

	for (n = 0; n < got && text[n]; n++)
		;
	/* Its end is in memory that is not there. */
	if (got <= 0 || (n == got && got < (long)sizeof(text)))
		return false;
	text[sizeof(text) - 1] = 0;
	return jf_choice_text(step, text);
}

/* False: not all of it can be read, or must not be. */
static bool copy_in(void *to, unsigned int size, uint64_t from)
{
	return jf_is_address(from) && read_string((char *)to, size, from) == (long)size;
}

/* The end of a path, before the last pointer is followed. */
static bool follow(const struct jf_path *path, uint64_t *at)
{
	unsigned int i;

	for (i = 0; i + 1 < path->num; i++)
		if (!copy_in(at, 8, *at + (uint64_t)(int64_t)path->offset[i]))
			return false;
	*at += (uint64_t)(int64_t)path->offset[i];
	return true;
}

/* A text in an array need not have an end. */
static bool array_text(const struct jf_step *step, const struct jf_path *path, uint64_t from)
{
	char text[JF_CHOICE_TEXT];

	if (!copy_in(text, path->size, from))
		return false;
	text[path->size] = 0;
	return jf_choice_text(step, text);
}

static uint64_t of_bits(const struct jf_path *path, uint64_t v)
{
	unsigned int above = 64 - path->bits;

	v = v >> path->shift << above;
	return path->sign ? (uint64_t)((int64_t)v >> above) : v >> above;
}

__attribute__((__noinline__))
bool jf_memory(const struct jf_step *step, const struct jf_path *path, uint64_t from, uint64_t *value)
{
	uint64_t v = 0;

	if (!path)
		return jf_memory_text(step, from);
	if (!follow(path, &from))
		return false;
	if (step->op == JF_STEP_TEXT && path->text)
		return array_text(step, path, from);
	if (!copy_in(&v, path->size, from))
		return false;
	if (step->op == JF_STEP_TEXT)
		return jf_memory_text(step, v);
	*value = path->bits ? of_bits(path, v) : v;
	return true;
}

const char *jf_memory_unknown(void)
{
	return __atomic_load_n(&jf_filtered, __ATOMIC_RELAXED) ? "(seccomp)" : "(unreadable)";
}

unsigned int jf_memory_member_text(const struct jf_path *path, uint64_t from, char *to, unsigned int size)
{
	unsigned int num = path->size < size - 1 ? path->size : size - 1, n;

	if (!follow(path, &from) || (path->string && !copy_in(&from, 8, from)) || (path->text && !copy_in(to, num, from)))
		return jf_word(to, jf_memory_unknown());
	if (path->string)
		return jf_memory_string(to, size, from);
	for (n = 0; n < num && to[n]; n++)
		;
	if (n == num && num < path->size)
		return put_dots(to, n, size);
	to[n] = 0;
	return n + 1;
}

bool jf_memory_member(const struct jf_path *path, uint64_t from, uint64_t *to)
{
	uint64_t v = 0;

	if (!follow(path, &from) || !copy_in(&v, path->size, from))
		return false;
	*to = path->bits ? of_bits(path, v) : v;
	return true;
}
