// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * What writes text. Best first:
 *
 *   mem	/proc/self/mem. The kernel gives the process a copy of the page at
 *		the first write; the mapping keeps its file and its protection, so that debuggers
 *		and profilers find their symbols.
 *   remap	a copy of the page is made, changed while no thread can execute it,
 *		made executable and then moved over the page, at once for all.
 *   none	text stays as it is.
 *
 * Both keep the text private: after a fork parent and child have their own.
 *
 * Tracers set their breakpoints in pages of files (uprobes). In a copy the kernel would
 * not know such a breakpoint any more, and kill the process for it. So a page of text
 * is compared to its file before it is copied for the first time.
 *
 * Each can be denied, by a missing /proc, a seccomp filter, a policy that lets
 * nothing become executable, or sealed mappings, and each at any time. So before
 * a transaction each page is written once, with its own content. A writer that fails
 * there is out for good, and the next one tries. After a lack of memory or of
 * descriptors, or for a breakpoint in a page, the next one tries for this change alone.
 *
 * Emulators and other programs that translate code notice most changes of text, but
 * not all of these. So a writer first changes an instruction of a function that exists for this
 * test alone, and the function is executed. The test function of a writer that replaces pages is
 * in memory that belongs to no file.
 *
 * A descriptor of /proc/self/mem in the table of all threads is not safe. Another thread can
 * close all descriptors that it does not know, in the middle of a change, and open a file:
 * text would be written to that file, and no check before a write can prevent it. So the
 * number is in a table that no other thread has. A process of one thread has that
 * anyhow. Else the whole transaction is carried out by a helper: a thread that this one
 * makes, that leaves the table of the others, opens /proc/self/mem, and ends when all is
 * done, while this one waits for it. That costs as much as a thread does.
 *
 * The helper is of the same process, so no thread has to wait() for it and no SIGCHLD
 * comes. It has this thread's thread-local storage, also libc's part of it, which is fair since
 * this one does nothing until the other has ended; so errno, cancellation and locks are as if this
 * one ran, and for libc there is no such thread. It has this thread's mask of signals. A fork()
 * never meets it: the thread that forks waits for the lock. Where a filter denies clone(),
 * close_range() and unshare(), or there may be no more threads, text is replaced by copies, for
 * this time.
 */
#include "lib.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "machine.h"

/* Not every libc comes with the kernel's headers, or with recent ones. */
enum {
	FUTEX_WAIT_SHARED = 0,
	CLOSE_RANGE = 436,
	CLOSE_RANGE_UNSHARED = 1 << 1,
	PROC_MAGIC = 0x9fa0,
};

/*
 * While a transaction is under way: in a table that no other thread has, or the error of making it.
 */
static int mem_fd = -1, mem_error;

/* It may be otherwise the next time, and does not rule out a writer. */
static bool is_passing(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -EINTR ||
	       err == -EAGAIN || err == -EBADF;
}

/*
 * True if it writes to this process. In containers, and in a chroot it may be any file. 0, or why
 * not.
 */
static int mem_is_mine(void)
{
	static volatile uint64_t seen;
	static uint64_t number;
	long done;

	/* Another process that has the same file may write, too. */
	number += (uint64_t)getpid() ^ jf_now_ns();
	done = jf_pwrite(mem_fd, &number, sizeof(number), (uintptr_t)&seen);
	if (done < 0)
		return (int)done;
	return done == sizeof(number) && seen == number ? 0 : -ENXIO;
}

static int mem_open(void)
{
	if (mem_fd < 0)
		return mem_error;
	if (!jf_mem_is_atomic())
		return -EOPNOTSUPP;
	return mem_is_mine();
}

static int mem_write(uintptr_t addr, const void *bytes, size_t num)
{
	long done = jf_pwrite(mem_fd, bytes, num, addr);

	if (done < 0)
		return (int)done;
	return (size_t)done == num ? 0 : -EIO;
}

static const struct jf_site *site_around(uintptr_t addr)
{
	const struct jf_site *site = NULL;
	bool ours;
	int i;

	for (i = 0; i < JF_INSN_SIZE && !site; i++)
		site = jf_site_find(addr - (uintptr_t)i, &ours);
	return site;
}

/* While text is changed by INT3 one at a site is likely to be ours. */
static bool is_ours(uintptr_t addr)
{
	const struct jf_site *site = site_around(addr);

	return site && (site->addr != addr || jf_options()->int3);
}

/* True if no other thread can close an opened file, and open something else. */
static bool own_table;
/* The file of an object, then open as long as a transaction lasts. */
static int file_fd = -1;
static const struct jf_mod *file_of;

static void file_close(void)
{
	if (file_fd >= 0)
		close(file_fd);
	file_fd = -1;
	file_of = NULL;
}

static int file_open(const struct jf_mod *m)
{
	if (file_of == m && file_fd >= 0)
		return 0;
	file_close();
	if (!m->path)
		return -ENOENT;
	file_fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	file_of = m;
	return file_fd < 0 ? -errno : 0;
}

/* @num bytes from @at on of the file of @m. 0 or -errno. */
static int read_file(const struct jf_mod *m, uint64_t at, uint8_t *bytes, size_t num)
{
	int err = file_open(m);

	if (!err && pread(file_fd, bytes, num, (off_t)at) < 0)
		err = -errno;
	if (!own_table)
		file_close();
	return err;
}

/*
 * -EBUSY: there is a breakpoint in the part of @text in @page that the file has not. Where
 * that cannot be read, or is another one by now, each byte that may be one counts.
 */
static int has_breakpoint(const struct jf_mod *m, const struct jf_text *text, uintptr_t page)
{
	static uint8_t file[JF_PAGE_MAX];
	uintptr_t start = page < text->start ? text->start : page, end = page + jf_page_size();
	const uint8_t *have = (const uint8_t *)start;
	size_t num, i;
	int err;

	if (end > text->end)
		end = text->end;
	if (start >= end)
		return 0;
	num = end - start;
	if (num > sizeof(file))
		num = sizeof(file);
	memset(file, 0, sizeof(file));
	err = read_file(m, text->at + (start - text->start), file, num);
	for (i = 0; i + JF_TRACERS_STEP <= num; i += JF_TRACERS_STEP)
		if (memcmp(have + i, file + i, JF_TRACERS_STEP) &&
		    jf_is_tracers(have + i, file + i, num - i) && !is_ours(start + i))
			return is_passing(err) ? err : -EBUSY;
	return 0;
}

static int has_breakpoints(const struct jf_mod *m, uintptr_t page)
{
	int err = 0;
	size_t i;

	for (i = 0; i < m->num_texts && !err; i++)
		err = has_breakpoint(m, &m->texts[i], page);
	return err;
}

/* --- data about pages --------------------------------------------------------------- */

static size_t page_number(const struct jf_mod *m, uintptr_t page)
{
	return (page - (m->text & ~(jf_page_size() - 1))) / jf_page_size();
}

static bool has_bit(const uint8_t *bits, size_t nr)
{
	return bits && bits[nr / 8] & 1 << nr % 8;
}

/* Without memory it stays unknown. */
static void set_bit(const struct jf_mod *m, uint8_t **bits, size_t nr)
{
	if (!*bits)
		*bits = jf_zalloc(page_number(m, m->text_end) / 8 + 1);
	if (*bits)
		(*bits)[nr / 8] |= (uint8_t)(1 << nr % 8);
}

static bool is_copy(const struct jf_mod *m, uintptr_t page)
{
	return has_bit(m->copied, page_number(m, page));
}

static void note_copy(struct jf_mod *m, uintptr_t page)
{
	set_bit(m, &m->copied, page_number(m, page));
}

/*
 * A page that this process alone has is written without memory. After a fork it has none
 * alone.
 */
static uint64_t forks;

static bool is_written(const struct jf_mod *m, uintptr_t page)
{
	return m->forks == forks && has_bit(m->written, page_number(m, page));
}

static void note_written(struct jf_mod *m, uintptr_t page)
{
	if (m->forks != forks && m->written)
		memset(m->written, 0, page_number(m, m->text_end) / 8 + 1);
	m->forks = forks;
	set_bit(m, &m->written, page_number(m, page));
}

/**
 * struct jf_linked - which bytes of a page of a file look like breakpoints
 * @num: how many they are
 * @at:  where, ascending
 */
struct jf_linked {
	uint16_t num;
	uint16_t at[];
};

/* Of most pages, and of pages of unreadable files: bytes that look like a breakpoint are one. */
static const struct jf_linked nothing_linked;

#if JF_RUNS
/* @bytes of the file, for the page at @page. */
static bool read_page(const struct jf_mod *m, uintptr_t page, uint8_t *bytes)
{
	size_t size = jf_page_size(), i;

	memset(bytes, 0, size);
	for (i = 0; i < m->num_texts; i++) {
		const struct jf_text *t = &m->texts[i];
		uintptr_t start = page < t->start ? t->start : page;
		uintptr_t end = page + size > t->end ? t->end : page + size;

		if (start < end && read_file(m, t->at + (start - t->start),
					     bytes + (start - page), end - start))
			return false;
	}
	return true;
}

static const struct jf_linked *look_at_file(const struct jf_mod *m, uintptr_t page)
{
	static uint8_t bytes[4096];
	static uint16_t at[4096];
	struct jf_linked *linked;
	uint16_t i, num = 0;

	if (jf_page_size() != sizeof(bytes) || !read_page(m, page, bytes))
		return &nothing_linked;
	for (i = 0; i < sizeof(bytes); i++)
		if (bytes[i] == JF_OPCODE_INT3)
			at[num++] = i;
	linked = num ? jf_alloc(sizeof(*linked) + num * sizeof(*at)) : NULL;
	if (!linked)
		return &nothing_linked;
	linked->num = num;
	memcpy(linked->at, at, num * sizeof(*at));
	return linked;
}

static const struct jf_linked *linked_in(struct jf_mod *m, uintptr_t page)
{
	size_t nr = page_number(m, page);

	if (!m->linked)
		m->linked = jf_zalloc((page_number(m, m->text_end) + 1) * sizeof(*m->linked));
	if (!m->linked)
		return &nothing_linked;
	if (!m->linked[nr])
		m->linked[nr] = look_at_file(m, page);
	return m->linked[nr];
}
#endif

void jf_writer_forget(struct jf_mod *m)
{
	size_t i, num = m->linked ? page_number(m, m->text_end) + 1 : 0;

	for (i = 0; i < num; i++)
		if (m->linked[i] != &nothing_linked)
			jf_free((void *)(uintptr_t)m->linked[i]);
	jf_free(m->linked);
	jf_free(m->copied);
	jf_free(m->written);
}

/* Whose text @addr is in, or NULL. */
static struct jf_mod *text_of(uintptr_t addr)
{
	struct jf_mod *m = jf_mod_of(addr);

	return m && addr >= m->text && addr < m->text_end ? m : NULL;
}

#if JF_RUNS
bool jf_writer_copy(uint8_t *to, uintptr_t from, size_t num)
{
	size_t count = jf_copy_and_count(to, (const uint8_t *)from, num), offset, i;
	const struct jf_linked *l;
	struct jf_mod *m;

	if (!count)
		return true;
	m = text_of(from);
	l = m ? linked_in(m, from & ~(jf_page_size() - 1)) : &nothing_linked;
	offset = from & (jf_page_size() - 1);
	for (i = 0; i < l->num && l->at[i] < offset + num; i++)
		count -= l->at[i] >= offset && to[l->at[i] - offset] == JF_OPCODE_INT3;
	return !count;
}
#endif

/*
 * True if the page at @page can be copied. One that was, can. If it has data, these can change at
 * any time, and have to be written later.
 */
static int can_copy(const struct jf_mod *m, uintptr_t page)
{
	if (m->writable)
		return -EACCES;
	return is_copy(m, page) ? 0 : has_breakpoints(m, page);
}

static int remap_open(void)
{
	return 0;
}

static int remap_page(uintptr_t addr, const void *bytes, size_t num)
{
	size_t size = jf_page_size();
	uintptr_t page = addr & ~(size - 1);
	char *copy;
	int err;

	copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, (const void *)page, size);
	memcpy(copy + (addr - page), bytes, num);
	if (!mprotect(copy, size, PROT_READ | PROT_EXEC) &&
	    mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)page) != MAP_FAILED)
		return 0;
	err = -errno;
	munmap(copy, size);
	return err;
}

static int remap_write(uintptr_t addr, const void *bytes, size_t num)
{
	struct jf_mod *m = text_of(addr);
	int err = 0;

	while (num && !err) {
		size_t at = addr & (jf_page_size() - 1), part = jf_page_size() - at;

		if (part > num)
			part = num;
		if (m && addr >= m->text_end)
			m = text_of(addr);
		err = m ? can_copy(m, addr - at) : 0;
		if (!err)
			err = remap_page(addr, bytes, part);
		if (!err && m)
			note_copy(m, addr - at);
		addr += part;
		bytes = (const char *)bytes + part;
		num -= part;
	}
	return err;
}

static const struct writer {
	const char *name;
	int (*open)(void);
	int (*write)(uintptr_t addr, const void *bytes, size_t num);
	bool in_place;
} writers[] = {
	{ "mem", mem_open, mem_write, true },
	{ "remap", remap_open, remap_write, false },
};

#define NR_WRITERS	(sizeof(writers) / sizeof(writers[0]))

static const struct writer *writer;
/*
 * A bit for each: it has written something that was executed; it was refused; there was a
 * page that it could not write.
 */
static unsigned int tried, out, told;
#define ALL_WRITERS	((1U << NR_WRITERS) - 1)

static void why_not(const char *name, int err)
{
	size_t at = strlen(jf_stats.why);

	snprintf(jf_stats.why + at, sizeof(jf_stats.why) - at, "%s%s: %s",
		 at ? "; " : "", name, jf_error(-err));
	jf_say(true, "text cannot be written by %s: %s", name, jf_error(-err));
}

static bool is_wanted(const struct writer *w)
{
	const struct jf_options *o = jf_options();

	return !o->off && (!o->writer || !strcmp(o->writer, w->name));
}

static bool is_left(const struct writer *w)
{
	return is_wanted(w) && !(out & 1U << (w - writers));
}

/* Nothing is written to one that is known: whether it may be done at all was asked before. */
static int try_page(const struct writer *w, uintptr_t addr, uintptr_t page)
{
	struct jf_mod *m = w->in_place ? text_of(addr) : NULL;
	int err;

	if (m && is_written(m, page))
		return 0;
	err = w->write(addr, (const void *)addr, JF_ATOM);
	if (!err && m)
		note_written(m, page);
	return err;
}

static int try_pages(const struct writer *w, const uintptr_t *addrs, size_t num)
{
	uintptr_t mask = ~((uintptr_t)jf_page_size() - 1), known = 0;
	int err = w->open();
	size_t i;

	for (i = 0; !err && i < num; i++) {
		/* Of five bytes the last may be in another page. */
		uintptr_t first = addrs[i], last = first + JF_INSN_SIZE - 1;

		if ((first & mask) != known)
			err = try_page(w, first, first & mask);
		known = first & mask;
		if (!err && (last & mask) != known) {
			err = try_page(w, last, last & mask);
			known = last & mask;
		}
	}
	return err;
}

/*
 * Only this thread executes @code: the lock is held, or this is the only one. What
 * is called returns another number than it did.
 */
static int changes_code(const struct writer *w, const void *code)
{
	int (*volatile specimen)(void) = (int (*)(void))(uintptr_t)code;
	uintptr_t at = (uintptr_t)code + SPECIMEN_NUMBER;
	uint8_t next = (uint8_t)(specimen() + 1), bytes[JF_ATOM];
	int err;

	jf_specimen_number(bytes, next);
	err = w->write(at, bytes, sizeof(bytes));
	if (err)
		return err;
	jf_text_written(at, sizeof(bytes));
	jf_sync_self();
	return specimen() == next ? 0 : -ENOEXEC;
}

/* The library's own text may have breakpoints as well, so no page of it is replaced. */
static int changes_page(const struct writer *w)
{
	static const uint8_t code[] __attribute__((__aligned__(JF_ATOM))) = { SPECIMEN };
	size_t size = jf_page_size();
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (page == MAP_FAILED)
		return -errno;
	memcpy(page, code, sizeof(code));
	err = mprotect(page, size, PROT_READ | PROT_EXEC) ? -errno : changes_code(w, page);
	munmap(page, size);
	return err;
}

static int is_executed(const struct writer *w)
{
	return w->in_place ? changes_code(w, (const void *)(uintptr_t)jf_specimen) :
			     changes_page(w);
}

/* 0, or -errno; then the next one may do it this time. */
static int try_writer(const struct writer *w, const uintptr_t *addrs, size_t num)
{
	int err = try_pages(w, addrs, num);

	if (!err && !(tried & 1U << (w - writers)))
		err = is_executed(w);
	if (err)
		return err;
	tried |= 1U << (w - writers);
	writer = w;
	strcpy(jf_stats.writer, w->name);
	return 0;
}

int jf_writer_begin(const uintptr_t *addrs, size_t num)
{
	int err, passing = 0;
	size_t i;

	for (i = 0; i < NR_WRITERS; i++) {
		const struct writer *w = &writers[i];

		if (!is_left(w))
			continue;
		err = try_writer(w, addrs, num);
		if (!err)
			return 0;
		/* Of this page, or this time: it may do others. */
		if (err == -EBUSY && !(told & 1U << i)) {
			why_not(w->name, err);
			told |= 1U << i;
		}
		if (is_passing(err) || err == -EBUSY) {
			passing = passing ? passing : err;
			continue;
		}
		why_not(w->name, err);
		out |= 1U << i;
	}
	/* A breakpoint is in the way: no writer can change that page. */
	if (passing)
		return passing == -EBUSY ? -EOPNOTSUPP : passing;
	out = ALL_WRITERS;
	writer = NULL;
	strcpy(jf_stats.writer, "none");
	return -EOPNOTSUPP;
}

bool jf_writer_in_place(void)
{
	return writer && writer->in_place;
}

void jf_writer_none(const char *what)
{
	if (out != ALL_WRITERS)
		why_not(what, -errno);
	out = ALL_WRITERS;
}

/* --- a table of descriptors that no other thread has -------------------------------- */

/*
 * The helper's stack. With the lock held there is one helper. A SIGTRAP handler may run
 * there, and code in front of libc's functions.
 */
static _Alignas(64) char helper_stack[128 << 10];
/* Above its first frame: no return address, for readers of stacks. */
#define STACK_TOP	256

/*
 * The memory of this process, opened by one with more rights, for one change: jf_writer_lend(). It
 * is a peer's file, so mem_is_mine() has to find it right, too.
 */
static struct {
	int fd;
	dev_t dev;
	ino_t ino;
} lent = { .fd = -1 };

static struct {
	int (*work)(void *arg);
	void *arg;
	int result;
	/* As the kernel has it: its number, until it has ended. */
	_Atomic int tid;
} helper;

/*
 * In the helper, first thing. It takes none of the descriptors with it, but for the lent one:
 * descriptors that others close are closed. Kernels before 5.9 make a copy of all, for as long.
 */
static int leave_table(void)
{
	unsigned int first = (unsigned int)(lent.fd + 1);

	if (syscall(CLOSE_RANGE, first, ~0U, CLOSE_RANGE_UNSHARED))
		return unshare(CLONE_FILES) ? -errno : 0;
	if (lent.fd > 0)
		syscall(CLOSE_RANGE, 0U, (unsigned int)lent.fd - 1, 0);
	return 0;
}

/* True if the lent descriptor is there, and its number has not become another file. */
static bool is_lent(void)
{
	struct stat st;

	return lent.fd >= 0 && !fstat(lent.fd, &st) && st.st_dev == lent.dev && st.st_ino == lent.ino;
}

static void mem_begin(void)
{
	mem_fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	mem_error = mem_fd < 0 ? -errno : 0;
	if (mem_fd >= 0 || is_passing(mem_error) || !is_lent())
		return;
	mem_fd = lent.fd;
	mem_error = 0;
}

static void mem_end(void)
{
	if (mem_fd >= 0 && mem_fd != lent.fd)
		close(mem_fd);
	mem_fd = -1;
	file_close();
	own_table = false;
}

/*
 * The table goes with the helper. An obstacle to the table is an obstacle to that writer alone.
 */
__attribute__((__used__))
static void helper_runs(void)
{
	mem_error = leave_table();
	own_table = !mem_error;
	if (own_table)
		mem_begin();
	helper.result = helper.work(helper.arg);
	mem_end();
}

/*
 * Exactly pthread_create()'s: there are filters that kill a process for any others. The new
 * thread shares this thread's thread-local storage of the C library.
 */
#ifdef __GLIBC__
#define LIBC_FLAGS	0L
#else
#define LIBC_FLAGS	((long)CLONE_DETACHED)
#endif
#define THREAD_FLAGS							\
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |	\
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | LIBC_FLAGS)

/* 0, or -errno: it has not begun. */
static int start_helper(void)
{
	long ret = jf_helper_start(THREAD_FLAGS, helper_runs, helper_stack + sizeof(helper_stack) - STACK_TOP,
				   &helper.tid);

	/*
	 * Its namespace of process ids is not that of its children, until it takes the old one
	 * again: as if there may be no more threads.
	 */
	if (ret == -EINVAL)
		return -EAGAIN;
	return ret < 0 ? (int)ret : 0;
}

/* The kernel stores 0 when it does not run any more, and wakes the thread that waits for that. */
static void wait_for_helper(void)
{
	int tid;

	/* Pairs with the kernel's store, which follows all that the helper has done. */
	while ((tid = atomic_load_explicit(&helper.tid, memory_order_acquire)))
		syscall(SYS_futex, &helper.tid, FUTEX_WAIT_SHARED, tid, NULL, NULL, 0);
}

static int run_by_helper(int (*work)(void *arg), void *arg)
{
	int err;

	helper.work = work;
	helper.arg = arg;
	atomic_store_explicit(&helper.tid, -1, memory_order_relaxed);
	err = start_helper();
	if (!err) {
		wait_for_helper();
		return helper.result;
	}
	own_table = false;
	/* A pointer that sent it here, if one did, can be mended sooner. */
	mem_error = mem_error ? mem_error : err;
	return work(arg);
}

/* Signals are kept off, so that no handler can close it, or fork. */
static int run_alone(int (*work)(void *arg), void *arg)
{
	int err;

	own_table = true;
	mem_begin();
	if (mem_fd < 0 && is_passing(mem_error))
		return run_by_helper(work, arg);
	err = work(arg);
	mem_end();
	return err;
}

int jf_writer_run(int (*work)(void *arg), void *arg)
{
	if (!is_left(&writers[0]))
		return work(arg);
	mem_error = 0;
	return jf_single_threaded() ? run_alone(work, arg) : run_by_helper(work, arg);
}

void jf_writer_lend(int fd)
{
	struct stat st;
	struct statfs fs;

	lent.fd = -1;
	if (fd <= 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) || fs.f_type != PROC_MAGIC)
		return;
	lent.fd = fd;
	lent.dev = st.st_dev;
	lent.ino = st.st_ino;
	/* It may have been refused for want of this. */
	out &= ~1U;
}

bool jf_writer_usable(void)
{
	size_t i;

	for (i = 0; i < NR_WRITERS; i++)
		if (is_left(&writers[i]))
			return true;
	strcpy(jf_stats.writer, "none");
	return false;
}

int jf_writer_write(uintptr_t addr, const void *bytes, size_t num)
{
	int err = writer->write(addr, bytes, num);

	jf_text_written(addr, num);
	return err;
}

/* With the lock held, so no transaction is under way. */
static void fork_begins(void)
{
	forks++;
}

__attribute__((__constructor__(JF_BEGINS)))
static void writer_begins(void)
{
	static struct jf_fork_part part = { .before = fork_begins };

	jf_at_fork(&part);
}
