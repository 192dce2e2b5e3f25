/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The keys, dynamic functions and tracepoints of a program, by name. In programs only; kernels have
 * debugfs for that.
 *
 * API:
 *   jf_list(visit, arg)		call visit for each of them
 *   jf_keys_set(names, on)		enable or disable keys by name
 *   jf_keys_batch_set(&b, names, on)	the same as part of a batch (batch.h)
 *
 * Example:
 *   static int show(const struct jf_info *i, void *arg)
 *   {
 *           printf("%s of %s: %s, %zu sites\n", i->name, i->object,
 *                  i->on ? "on" : "off", i->sites);
 *           return 0;
 *   }
 *
 *   jf_list(show, NULL);
 *   jf_keys_set("debug_*", true);
 *   jf_keys_set("libnet.so*:rx_*", true);
 *
 * Names: a pattern for whole names, in which * is any number of any characters and ? is one.
 * In front of a colon, the last one, there may be another one, for the object's file without
 * its folders; that of the program is the name of its file as well. All elements of an array
 * of keys have the array's name. Imported ones have the name and the object of the exporter's.
 *
 * The environment has the same before the first line of the program:
 *   JUMPFUNC_ENABLE=NAMES[,NAMES...]
 * For a comma in a file's name there is "?".
 * Each key that has such a name is enabled when its object is loaded, before the object's own
 * constructors, also in objects that are opened later. It has one user then, as after
 * jf_key_enable(). With JUMPFUNC=verbose messages list the enabled keys, and the names that nothing
 * has. Programs that gained privileges by setuid or the like ignore it.
 *
 * Caveats: a tracepoint has a branch, too, which is on while there are probes. Without any
 * there is nothing that it could do, so names here are never that branch's: to see a
 * tracepoint, register a probe. A name that only tracepoints have is one of no key.
 */
#ifndef JUMPFUNC_LIST_H
#define JUMPFUNC_LIST_H

#ifdef __KERNEL__
#error "for programs only"
#endif

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>

__JF_BEGIN_DECLS

/**
 * enum jf_kind - a key, a dynamic function or a tracepoint
 * @JF_KIND_KEY:   a key
 * @JF_KIND_FUNC:  a dynamic function
 * @JF_KIND_TRACE: a tracepoint
 */
enum jf_kind {
	JF_KIND_KEY,
	JF_KIND_FUNC,
	JF_KIND_TRACE,
};

/**
 * struct jf_info - a key, a dynamic function or a tracepoint, as jf_list() found it
 * @name:     as given to the macro that defines it
 * @object:   the file of the program or shared object that defines it; "" if not known
 * @kind:     one of enum jf_kind
 * @on:       a key: enabled; a dynamic function: it has a target; a tracepoint: it has probes
 * @exported: other objects may import it
 * @users:    a key's users; a tracepoint's probes; else 0
 * @sites:    places in text that depend on it, in all objects; of a tracepoint, its
 *            branches; 0 where nothing is patched, as by JF_GENERIC
 * @nth:      which one of an array of keys, else 0
 * @num:      how many the array has, else 1
 * @key:      the key, or NULL. It is there as long as its object is
 * @target:   target of a dynamic function, or NULL
 *
 * All of it, but for @key, is a copy, and there until the callback returns.
 */
struct jf_info {
	const char	*name;
	const char	*object;
	enum jf_kind	kind;
	bool		on;
	bool		exported;
	int		users;
	size_t		sites;
	size_t		nth;
	size_t		num;
	struct jf_key	*key;
	void		*target;
};

/**
 * jf_list() - call a function for each key, dynamic function and tracepoint
 * @visit: called for each, until it does not return 0
 * @arg:   its second argument
 *
 * Each is shown once: in the object that defines it, not in those that import it. All of them are
 * shown as they were at one time during the call, even if other threads change them. The library's
 * lock was held at that time; no lock is held while @visit is called. So it can do all that the
 * caller can: change the listed entries, list again, open and close objects, fork, wait. An
 * exception, or longjmp(), may leave it, but then the copy is never freed; a cancellation frees it.
 *
 * Context: any thread; not from a signal handler. Allocates by malloc().
 * Return: 0, -ENOMEM, or what @visit has returned.
 */
int jf_list(int (*visit)(const struct jf_info *info, void *arg), void *arg);

/**
 * jf_keys_batch_set() - add changes of all keys of these names to a batch
 * @b:     the batch
 * @names: a pattern, see above
 * @on:    as for jf_key_batch_set()
 *
 * Those that there are now. One whose object is closed before jf_batch_commit() makes that
 * fail with -ENODEV.
 *
 * Context: as jf_key_batch_set().
 * Return: how many keys these are, 0 among others; -ENOMEM or -EDEADLK (as
 * jf_batch_commit()), which that returns as well.
 */
int jf_keys_batch_set(struct jf_batch *b, const char *names, bool on);

/**
 * jf_keys_set() - enable or disable all keys of these names, or none
 * @names: a pattern, see above
 * @on:    enable them, as jf_key_enable() does, or disable them
 *
 * Objects can be opened and closed during the call: a key of one that is closed is left out.
 *
 * Context: as jf_batch_commit().
 * Return: how many keys have these names, -ENOENT if none has, -EBUSY if one that is to be
 * disabled has more than one user, or another error of jf_batch_commit(). Unless that is
 * -EIO, an error means that nothing has changed.
 */
int __JF_MUST_CHECK jf_keys_set(const char *names, bool on);

__JF_END_DECLS

#endif /* JUMPFUNC_LIST_H */
