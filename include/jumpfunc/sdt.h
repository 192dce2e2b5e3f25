/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Subscribers of a program's SDT probes, those of <sys/sdt.h> as jumpfunc has it.
 *
 * API:
 *   jf_sdt_register(names, probe, data)	call probe at each of these from now on
 *   jf_sdt_unregister(names, probe, data)	and no longer
 *   jf_sdt_list(visit, arg)			what there is
 *   jf_sdt_batch_register(&b, sdt, probe, data)	one, in a batch (batch.h)
 *   jf_sdt_batch_unregister(&b, sdt, probe, data)	the same, no longer
 *   jf_sdt_registered(sdt, probe, data)	is it a subscriber
 *
 * Example:
 *   static void print(void *data, const struct jf_sdt *sdt,
 *                     const unsigned long *words)
 *   {
 *           fprintf(data, "%s %ld\n", sdt->tp.name, (long)words[0]);
 *   }
 *
 *   err = jf_sdt_register("postgresql:query__*", print, stderr);
 *   ...
 *   jf_sdt_unregister("*", print, stderr);
 *   jf_quiesce();
 *
 * Names: "provider:name", and * and ? in them have the meaning of list.h;
 * without a colon the name alone.
 *
 * How it works: jumpfunc-sdt/sys/sdt.h. All probes of a call are changed in one
 * transaction, whatever their number. A probe has any number of subscribers, which
 * an array holds; read sections surround the calls (jf_read_lock()). While there
 * are subscribers the probe's semaphore, if it has one, is one higher.
 *
 * Caveats: A name registers the probes of the objects that are loaded now. jf_list() shows SDT
 *   probes among the tracepoints.
 *
 *   A probe can be at several places: in several functions, or because the compiler
 *   copied its code. Places of one object that have the name, the number of arguments
 *   and their types in common are one struct jf_sdt; each other place has its own.
 */
#ifndef JUMPFUNC_SDT_H
#define JUMPFUNC_SDT_H

#ifdef __KERNEL__
#error "for programs only"
#endif

#include <jumpfunc/tracepoint.h>

/**
 * define JF_SDT_VERSION - the form of struct jf_sdt, as its member version has it
 */
#define JF_SDT_VERSION	1
/**
 * define JF_SDT_SIZE - how many bytes an argument of an SDT probe has
 *
 * These bits of jf_sdt.code.
 */
#define JF_SDT_SIZE	0x0f
/**
 * define JF_SDT_SIGNED - whether an argument of an SDT probe is a signed integer
 *
 * This bit of jf_sdt.code.
 */
#define JF_SDT_SIGNED	0x10
/**
 * define JF_SDT_FLOAT - whether an argument of an SDT probe is a float or double
 *
 * This bit of jf_sdt.code; the word has its bits.
 */
#define JF_SDT_FLOAT	0x20

/**
 * struct jf_sdt - an SDT probe
 * @key:       enabled while it has subscribers
 * @tp:        the name, "provider:name", the number of arguments, and the subscribers
 * @semaphore: NULL, or a count of those that want to know it
 * @version:   JF_SDT_VERSION
 * @code:      of each argument: JF_SDT_*
 *
 * Written by the macros of <sys/sdt.h>. For probes to read; all else is private to
 * jumpfunc.
 */
struct jf_sdt {
	struct jf_key		key;
	struct jf_tracepoint	tp;
	unsigned short		*semaphore;
	uint32_t		version;
	uint8_t			code[16];
};

/*
 * A subscriber: @words are the arguments, signed ones with their sign, of a float
 * or double the bits.
 * Context: as the code that the probe is in; it is in a read section.
 */
typedef void jf_sdt_probe(void *data, const struct jf_sdt *sdt, const unsigned long *words);

__JF_BEGIN_DECLS

/**
 * jf_sdt_register() - subscribe to SDT probes
 * @names: which, see above
 * @probe: is called at each
 * @data:  its first argument
 *
 * Those that @probe was registered for with @data before are left as they are.
 *
 * Context: as jf_batch_commit().
 * Return: how many these are, -ENOENT if there are none, -EINVAL if @probe is NULL,
 * -ENOMEM, or an error of jf_batch_commit(). Unless that is -EIO, an error means
 * that nothing has changed.
 */
int __JF_MUST_CHECK jf_sdt_register(const char *names, jf_sdt_probe *probe, void *data);

/**
 * jf_sdt_unregister() - end a subscription to SDT probes
 * @names: which
 * @probe: as registered
 * @data:  as registered
 *
 * Calls of @probe that have begun are over when jf_quiesce() has returned.
 *
 * Context: as jf_batch_commit().
 * Return: how many had this subscriber, -ENOENT if none had, or as
 * jf_sdt_register().
 */
int __JF_MUST_CHECK jf_sdt_unregister(const char *names, jf_sdt_probe *probe, void *data);

/**
 * jf_sdt_registered() - is this a subscriber of an SDT probe
 * @sdt:   the probe, of an object that is loaded
 * @probe: as registered
 * @data:  as registered
 *
 * Context: any thread; not from a signal handler.
 * Return: true if it is
 */
bool jf_sdt_registered(const struct jf_sdt *sdt, jf_sdt_probe *probe, void *data);

/**
 * jf_sdt_batch_register() - subscribe to one SDT probe, as part of a batch
 * @b:     the batch
 * @sdt:   the probe
 * @probe: is called at it
 * @data:  its first argument
 *
 * jf_batch_commit() fails with -EEXIST if it is a subscriber already, and with
 * -ENODEV if the probe's object is loaded no longer.
 *
 * Context: process context, may sleep (allocates).
 * Return: 0, or as jf_trace_batch_register(); jf_batch_commit() returns the same.
 */
static inline int jf_sdt_batch_register(struct jf_batch *b, const struct jf_sdt *sdt,
					jf_sdt_probe *probe, void *data)
{
	return __jf_batch_probe(b, (struct jf_tracepoint *)(uintptr_t)&sdt->tp,
				__extension__ (void *)probe, data, JF_TRACE_PRIO_DEFAULT, true);
}

/**
 * jf_sdt_batch_unregister() - end a subscription to one SDT probe, as part of a batch
 * @b:     the batch
 * @sdt:   the probe
 * @probe: as registered
 * @data:  as registered
 *
 * jf_batch_commit() fails with -ENOENT if it is no subscriber, and with -ENODEV if the
 * probe's object is loaded no longer.
 *
 * Context: process context, may sleep (allocates).
 * Return: 0, or as jf_trace_batch_unregister(); jf_batch_commit() returns the same.
 */
static inline int jf_sdt_batch_unregister(struct jf_batch *b, const struct jf_sdt *sdt,
					jf_sdt_probe *probe, void *data)
{
	return __jf_batch_probe(b, (struct jf_tracepoint *)(uintptr_t)&sdt->tp,
				__extension__ (void *)probe, data, 0, false);
}

/**
 * struct jf_sdt_info - an SDT probe, as jf_sdt_list() found it
 * @sdt:    the probe
 * @name:   "provider:name"
 * @object: the file of the program or shared object that it is in
 * @probes: how many subscribers it has
 * @sites:  at how many places it is
 */
struct jf_sdt_info {
	const struct jf_sdt	*sdt;
	const char		*name;
	const char		*object;
	size_t			probes;
	size_t			sites;
};

/**
 * jf_sdt_list() - call a function for each SDT probe
 * @visit: called for each, until it does not return 0
 * @arg:   its second argument
 *
 * @sdt is there as long as its object is. All else is a copy, as of jf_list().
 *
 * Context: as jf_list().
 * Return: 0, -ENOMEM, or what @visit has returned.
 */
int jf_sdt_list(int (*visit)(const struct jf_sdt_info *info, void *arg), void *arg);

/*
 * @loaded is called after each load of an object that has SDT probes, without a lock, and
 * at once if there are some; there is one such function, libjumpfunc-trace's.
 */
void __jf_sdt_watch(void (*loaded)(void));
/* Called by the code of the probes. */
void __jf_sdt_hit(struct jf_sdt *sdt, const unsigned long *words);

__JF_END_DECLS

#endif /* JUMPFUNC_SDT_H */
