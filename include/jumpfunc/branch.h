/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels: branches that cost a nop, or a direct jump, and no test.
 *
 * API:
 *   DECLARE_JF_KEY(k), DECLARE_JF_KEY_TRUE(k)	in a header; in a program the one that
 *						is defined by ..._FALSE, ..._TRUE
 *   DEFINE_JF_KEY_FALSE(k)			starts disabled
 *   DEFINE_JF_KEY_TRUE(k)			starts enabled
 *   DEFINE_JF_KEY_FALSE_RO(k), ..._TRUE_RO(k)	fixed once the module's init is done;
 *						in a program, an ordinary key
 *   DECLARE_JF_KEY_ARRAY(k, n), ..._TRUE(k, n), DEFINE_JF_KEY_ARRAY_FALSE(k, n), ..._TRUE(k, n)
 *						an array of n keys
 *   DEFINE_JF_KEY_MAYBE(CONFIG_X, k), ..._MAYBE_RO(CONFIG_X, k)
 *						starts enabled if the option is set
 *   EXPORT_JF_KEY(k), EXPORT_JF_KEY_GPL(k), EXPORT_JF_KEY_ARRAY...
 *						others may use and change it
 *   IMPORT_JF_KEY(k), IMPORT_JF_KEY_ARRAY(k, n)	in a program, beside DECLARE_...
 *
 *   if (jf_branch_unlikely(&k))		true if enabled, rarely
 *   if (jf_branch_likely(&k))			true if enabled, usually
 *   if (jf_branch_maybe(CONFIG_X, &k))		the one or the other, by the option
 *
 *   jf_key_enable(&k), jf_key_disable(&k)	set the state
 *   jf_key_inc(&k), jf_key_dec(&k)		count users; enabled while there is one
 *   jf_key_inc_not_zero(&k)			add a user, if there is one; any context
 *   jf_key_..._cpuslocked(&k)			the first four, under cpus_read_lock()
 *   jf_key_count(&k), jf_key_enabled(&k)	read the count, the state
 *   jf_key_batch_set(&b, &k, on)		set it as part of a batch (batch.h)
 *
 *   DECLARE_JF_KEY_DEFERRED(d), DEFINE_JF_KEY_DEFERRED_FALSE(d, delay), ..._TRUE(d, delay)
 *						its key is d.key
 *   jf_key_dec_deferred(&d)			disable it later, unless another user comes
 *   jf_key_deferred_flush(&d)			what is to be done later: now
 *   jf_key_deferred_delay(&d, delay)		how much later, from now on
 *
 * Example:
 *   DEFINE_JF_KEY_FALSE(debug_on);
 *
 *   if (jf_branch_unlikely(&debug_on))
 *           dump(packet);
 *   ...
 *   err = jf_key_enable(&debug_on);
 *
 * How it works: each use of jf_branch_*() is a site of five bytes that holds a
 * nop or a jump to the other side of the branch (in a program, of six: it has a
 * prefix). "likely" and "unlikely" choose
 * which side lies in the straight path, the key's state chooses the
 * instruction:
 *
 *                        |  key enabled     |  key disabled
 *   ---------------------+------------------+------------------
 *   jf_branch_unlikely() |  jmp, true side  |  nop, false side
 *   jf_branch_likely()   |  nop, true side  |  jmp, false side
 *
 *   The initial state does not matter for the code: keys defined by
 *   DEFINE_JF_KEY_TRUE() and _FALSE() can be used with either form.
 *
 *   In a module a site jumps, as compiled, to a few bytes out of line that load
 *   the key and test it. It gets its nop or jump before the first line of its
 *   module runs. So a branch is right even where nothing is patched: with
 *   backend=indirect, or on other architectures, where it is a plain load and test.
 *
 *   In a program a site is, as compiled, the nop or the jump that the key's first
 *   value asks for, and nothing is written before the first change. Where text cannot
 *   be written (a sandbox, JUMPFUNC=off) changes are refused (-EOPNOTSUPP): then each
 *   key has its first value, and its branches follow this value. With -DJF_TESTED the
 *   branches of a source file load and test the key there; their pages
 *   are written when the program starts, where that is possible.
 *
 * Caveats:
 *   The argument of jf_branch_*() must be the address of a key (or of a
 *   constant element of an array of keys), known at compile time. Keys are
 *   defined at file scope; "static" may stand in front of the macro.
 *
 *   Changing a key may sleep. A key that is enabled by jf_key_enable() or by a
 *   batch counts as having one user. Users that share a key must use only
 *   jf_key_inc() and jf_key_dec(), because jf_key_disable() would remove the
 *   one remaining user, also if another caller added it.
 *
 *   When a change has returned, every branch executed from then on goes the new way.
 *
 *   In the kernel, code that was entered through the branch before may still be running.
 *   Its data is protected as with static keys: by RCU, or by means of your own. A
 *   section of rcu_read_lock(), or with preemption off, that begins before the branch
 *   or after it is enough: jf_quiesce() includes a grace period of RCU, and so do
 *   synchronize_rcu() and kfree_rcu(). A task that sleeps in such code, in no section, is
 *   not waited for:
 *           rcu_read_lock();
 *           if (jf_branch_unlikely(&debug_on))
 *                   dump(rcu_dereference(dump_to), packet);
 *           rcu_read_unlock();
 *
 *   In a program jf_quiesce() waits for sections of jf_read_lock().
 *
 *   In a module a read-only key can be changed until its module's init function has
 *   returned. Sites in __init text are never patched: they load and test the
 *   key. A module's exit function can no longer change the module's own keys
 *   (-EBUSY), but can change those of other modules. Where a function with a site, of
 *   whatever kind, has a section of its own, that is to be called .text.NAME: on x86 a
 *   site has an entry in __ex_table, for which modpost accepts no other name.
 *
 *   In a program (libjumpfunc) a key is hidden in the program or shared object
 *   that defines it, a read-only key is an ordinary one, and the argument of
 *   jf_branch_*() may be a parameter only in always_inline functions, and only
 *   if they are optimised; such a branch is as with -DJF_TESTED. An imported key has
 *   its initial value, and cannot be changed (-ENODEV), until the first constructors
 *   of the object that exports it have run, which in a program come after those of its libraries.
 *
 *   While a key has users, jf_key_inc() is one atomic operation without a lock, and
 *   so is jf_key_dec() if it leaves one. The first user and the last one have to
 *   change text.
 *
 *   In the kernel, use a deferred key if users are added and taken away all the time: its
 *   last user is taken away after a delay, and a user that is added until then finds it
 *   enabled. Then it is disabled at most once in that time.
 *
 * Contexts in the kernel: which calls are allowed where.
 *
 *   You hold, or are in               | A    | B    | C    | D    | E
 *   ----------------------------------+------+------+------+------+------
 *   nothing, or mutexes of your own   | yes  |      | yes  | yes  | yes
 *   cpus_read_lock(), a CPU hotplug   |      | yes  | yes  | yes  |
 *     callback that may sleep         |      |      |      |      |
 *   a mutex that such a callback      |      | (1)  | yes  | yes  |
 *     takes as well                   |      |      |      |      |
 *   a spinlock, rcu_read_lock(),      |      |      | yes  | yes  |
 *     preemption or interrupts off,   |      |      |      |      |
 *     an interrupt, a timer           |      |      |      |      |
 *   an NMI                            |      |      | yes  |      |
 *   a branch of the key, a target     | yes  |      | yes  | yes  | yes
 *   a module's init, others' notifiers| yes  |      | yes  | yes  | yes
 *   a module's exit: its own keys     | (2)  |      | (2)  | (2)  | yes
 *   a callback of jf_call_quiesced()  | yes  |      | yes  | yes  | yes
 *   what frees memory for others: a   |      |      | yes  | yes  |
 *     shrinker, an OOM notifier       |      |      |      |      |
 *   work of a queue with a rescuer    | yes  |      | yes  | yes  | (4)
 *     (WQ_MEM_RECLAIM)                |      |      |      |      |
 *   stop_machine(), text_mutex        |      |      | (3)  | (3)  |
 *
 *   A	jf_key_enable(), _disable(), _inc(), _dec(), jf_batch_commit()
 *   B	the same with _cpuslocked
 *   C	jf_key_inc_not_zero()
 *   D	jf_key_dec_deferred()
 *   E	jf_key_deferred_flush()
 *   (1)	with cpus_read_lock() taken before that mutex
 *   (2)	refused: -EBUSY, or false
 *   (3)	if nothing above forbids it
 *   (4)	the kernel warns: what it waits for is in a queue without a rescuer
 *
 *   Where A is refused because the caller cannot sleep, it returns -EWOULDBLOCK.
 *   jf_key_inc() and jf_key_dec() check only if they need the lock: call them where
 *   they may sleep.
 *
 *   In the kernel, kprobes are refused on sites (register_kprobe() returns -EINVAL),
 *   and are not optimised in functions with sites. dynfunc.h has other caveats about
 *   sites.
 */
#ifndef JUMPFUNC_BRANCH_H
#define JUMPFUNC_BRANCH_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#endif

#include <jumpfunc/batch.h>
#include <jumpfunc/detail/macros.h>
#include <jumpfunc/detail/table.h>

/**
 * struct jf_key - a jump-label key
 * @enabled: its state; must come first, sites that test it load it
 * @count:   its users
 * @ent:     name, owner, flags
 *
 * Private to jumpfunc, and to the code that the macros below generate.
 */
struct jf_key {
	uint8_t		enabled;
	int		count;
	struct jf_ent	ent;
#ifndef __KERNEL__
	/* Elements of an array are aligned as their type says, see below. */
	unsigned int	: 32, : 32, : 32, : 32, : 32, : 32;
#endif
};

/*
 * In a program a branch is compiled for the key's first value. So the type of a key tells this
 * value, by its alignment, which makes no difference for pointers to it: a key that is known by a
 * struct jf_key * alone may start with either.
 */
#ifdef __KERNEL__
#define __JF_KEY_FALSE			struct jf_key
#define __JF_KEY_TRUE			struct jf_key
#define __JF_KEY_STARTS(k, on)		struct __jf_key_starts_##k
#else
#if JF_HAVE_PATCHING
#define __JF_ALIGN_FALSE		16
#define __JF_ALIGN_TRUE			32
typedef struct jf_key __jf_key_false __attribute__((__aligned__(__JF_ALIGN_FALSE)));
typedef struct jf_key __jf_key_true __attribute__((__aligned__(__JF_ALIGN_TRUE)));
#define __JF_KEY_FALSE			__jf_key_false
#define __JF_KEY_TRUE			__jf_key_true
#define __JF_KEY_ALIGN(key)		__alignof__(__typeof__(*(key)))
#else
/* There a branch asks the key. */
#define __JF_KEY_FALSE			struct jf_key
#define __JF_KEY_TRUE			struct jf_key
#endif
/* May be repeated; a compiler does not take two that differ. */
#define __JF_KEY_STARTS(k, on)		typedef char __jf_key_starts_##k[1 + (on)]
#endif

/* offsetof(struct jf_key, ent), for assembly; checked in jf_core.c. */
#define JF_KEY_ENT	8
/* sizeof(struct jf_key), likewise. */
#define JF_KEY_SIZE	32

#if JF_HAVE_PATCHING && !defined(__KERNEL__)
#include <jumpfunc/detail/branch_user.h>
#elif JF_HAVE_PATCHING && defined(CONFIG_ARM64)
#include <jumpfunc/detail/branch_arm64.h>
#elif JF_HAVE_PATCHING
#include <jumpfunc/detail/branch_x86.h>
#else
#include <jumpfunc/detail/branch_generic.h>
#endif

/**
 * jf_branch_unlikely() - test a key; the straight path is for "disabled"
 * @key: address of the key, a compile-time constant
 *
 * Context: any but noinstr code. Return: true if it is enabled.
 */
#define jf_branch_unlikely(key)						\
	__builtin_expect(__jf_unlikely_needs_a_key_known_at_compile_time_else_use_jf_key_enabled(key), 0)

/**
 * jf_branch_likely() - test a key; the straight path is for "enabled"
 * @key: address of the key, a compile-time constant
 *
 * Context: any but noinstr code. Return: true if it is enabled.
 */
#define jf_branch_likely(key)						\
	__builtin_expect(__jf_likely_needs_a_key_known_at_compile_time_else_use_jf_key_enabled(key), 1)

/* A compiler says "impossible constraint", and names the macros that lead there. */
#define __jf_unlikely_needs_a_key_known_at_compile_time_else_use_jf_key_enabled	__jf_branch_unlikely
#define __jf_likely_needs_a_key_known_at_compile_time_else_use_jf_key_enabled	__jf_branch_likely
#define __JF_HINT_KEY	"DEFINE_JF_KEY_FALSE(), ..._TRUE() or IMPORT_JF_KEY()"
#define __JF_HINT_KEYS	"DEFINE_JF_KEY_ARRAY_FALSE(), ..._TRUE() or IMPORT_JF_KEY_ARRAY()"

#define __JF_KEY_INIT(_name, _on, _flags)				\
	{ (_on), (_on), __JF_ENT_INIT(_name, JF_ENT_KEY,		\
				      (_flags) | ((_on) ? JF_ENT_ON : 0)) }

#ifdef __KERNEL__
#define __JF_KEY_REC(k, n)						\
	__JF_ENT_REC(#k " + " __stringify(JF_KEY_ENT), "0",		\
		     __stringify(n), __stringify(JF_KEY_SIZE))
#define __JF_KEY_ARRAY_REC	__JF_KEY_REC
#else
#define __JF_KEY_REC(k, n)						\
	__JF_HIDE(__typeof__(k) k)					\
	__JF_ENT_REC_USER(k, &k.ent, 0, 1, sizeof(struct jf_key))
#define __JF_KEY_ARRAY_REC(k, n)					\
	__JF_HIDE(__typeof__(k) k)					\
	__JF_ENT_REC_USER(k, &k[0].ent, 0, n, sizeof(struct jf_key))
#endif

#define __DECLARE_JF_KEY(k, type, on)					\
	extern type k __JF_HIDDEN __JF_NEAR(k);				\
	__JF_KEY_STARTS(k, on)
#define __DECLARE_JF_KEY_ARRAY(k, n, type, on)				\
	extern type k[n] __JF_HIDDEN __JF_NEAR(k);			\
	__JF_KEY_STARTS(k, on)

/**
 * DECLARE_JF_KEY() - declare a key that starts disabled
 * @k: its name
 *
 * In a kernel also one that starts enabled.
 */
#define DECLARE_JF_KEY(k)						\
	__JF_HINT(#k, __JF_HINT_KEY)					\
	__DECLARE_JF_KEY(k, __JF_KEY_FALSE, 0)

/**
 * DECLARE_JF_KEY_TRUE() - declare a key that starts enabled
 * @k: its name
 *
 * In a program a source file that defines the key and has the wrong one of the two is not
 * compiled ("conflicting types for __jf_key_starts_...").
 */
#define DECLARE_JF_KEY_TRUE(k)						\
	__JF_HINT(#k, __JF_HINT_KEY)					\
	__DECLARE_JF_KEY(k, __JF_KEY_TRUE, 1)

/**
 * DECLARE_JF_KEY_ARRAY() - declare an array of keys that start disabled
 * @k: its name
 * @n: number of keys
 *
 * DECLARE_JF_KEY_ARRAY_TRUE() is the same for keys that start enabled.
 */
#define DECLARE_JF_KEY_ARRAY(k, n)					\
	__JF_HINT(#k, __JF_HINT_KEYS)					\
	__DECLARE_JF_KEY_ARRAY(k, n, __JF_KEY_FALSE, 0)
#define DECLARE_JF_KEY_ARRAY_TRUE(k, n)					\
	__JF_HINT(#k, __JF_HINT_KEYS)					\
	__DECLARE_JF_KEY_ARRAY(k, n, __JF_KEY_TRUE, 1)

/* The key comes first, so that "static" may stand in front of the macros. */
#define __DEFINE_JF_KEY(k, type, on, flags, attr)			\
	type k __JF_USED __JF_HIDDEN_DEF __JF_NEAR(k) attr =		\
		__JF_KEY_INIT(#k, on, flags);				\
	__JF_KEY_STARTS(k, on);						\
	__JF_KEY_REC(k, 1)
#ifdef __cplusplus
#define __DEFINE_JF_KEY_ARRAY(k, n, type, on)				\
	static_assert(sizeof(#k) == 0, "C++ cannot initialise an array of " #k ": define it in C, declare it here")
#else
#define __DEFINE_JF_KEY_ARRAY(k, n, type, on)				\
	type k[n] __JF_USED __JF_HIDDEN_DEF __JF_NEAR(k) =		\
		__JF_ALL_OF(n, __JF_KEY_INIT(#k, on, 0));		\
	__JF_KEY_STARTS(k, on);						\
	__JF_KEY_ARRAY_REC(k, n)
#endif

/**
 * DEFINE_JF_KEY_FALSE() - define a key that starts disabled
 * @k: its name
 *
 * DEFINE_JF_KEY_TRUE() is the same for one that starts enabled; the _RO forms
 * put the key into read-only-after-init memory. Any may be "static", and in C++17
 * "inline", in a header.
 *
 * In a program the _RO forms are the same as the others. A module's init function
 * has an end; a program's initialisation has none that a library could see, since
 * options are read in main(). Memory that the loader protects (RELRO) is protected
 * before the first constructor could change a key.
 */
#define DEFINE_JF_KEY_FALSE(k)	__DEFINE_JF_KEY(k, __JF_KEY_FALSE, 0, 0, )
#define DEFINE_JF_KEY_TRUE(k)	__DEFINE_JF_KEY(k, __JF_KEY_TRUE, 1, 0, )
#define DEFINE_JF_KEY_FALSE_RO(k)					\
	__DEFINE_JF_KEY(k, __JF_KEY_FALSE, 0, JF_ENT_RO, __JF_RO_DATA)
#define DEFINE_JF_KEY_TRUE_RO(k)					\
	__DEFINE_JF_KEY(k, __JF_KEY_TRUE, 1, JF_ENT_RO, __JF_RO_DATA)

/**
 * DEFINE_JF_KEY_ARRAY_FALSE() - define an array of keys that start disabled
 * @k: its name, which messages use for all elements
 * @n: number of keys, a literal or a macro that expands to one
 *
 * DEFINE_JF_KEY_ARRAY_TRUE() is the same for keys that start enabled.
 */
#define DEFINE_JF_KEY_ARRAY_FALSE(k, n)	__DEFINE_JF_KEY_ARRAY(k, n, __JF_KEY_FALSE, 0)
#define DEFINE_JF_KEY_ARRAY_TRUE(k, n)	__DEFINE_JF_KEY_ARRAY(k, n, __JF_KEY_TRUE, 1)

#ifndef __KERNEL__
/*
 * Each object has a key of its own that its sites name, and those of importers
 * follow the exporter's, which they find by a pointer. Its declaration gives its first value.
 */
#define __JF_KEY_STARTS_ON(k)	(sizeof(__jf_key_starts_##k) == 2)
#define EXPORT_JF_KEY(k)						\
	__JF_EXPORT_ENT("__jf_export_key_" #k, key_##k, &k.ent)
#define EXPORT_JF_KEY_GPL(k)		EXPORT_JF_KEY(k)
#define EXPORT_JF_KEY_ARRAY(k)						\
	__JF_EXPORT_ENT("__jf_export_key_" #k, key_##k, &k[0].ent)
#define EXPORT_JF_KEY_ARRAY_GPL(k)	EXPORT_JF_KEY_ARRAY(k)
#ifdef __cplusplus
#define IMPORT_JF_KEY_ARRAY(k, n)	__DEFINE_JF_KEY_ARRAY(k, n, , 0)
#else
#define IMPORT_JF_KEY_ARRAY(k, n)					\
	__JF_IMPORT_ENT("__jf_export_key_" #k, key_##k);		\
	__typeof__(k) k __JF_USED __JF_HIDDEN_DEF __JF_NEAR(k) =	\
		__JF_ALL_OF(n, __JF_KEY_INIT(#k, __JF_KEY_STARTS_ON(k), 0)); \
	__JF_HIDE(__typeof__(k) k)					\
	__JF_ENT_REC_USER(k, &k[0].ent, &__jf_export_key_##k, n,	\
			  sizeof(struct jf_key))
#endif
#define IMPORT_JF_KEY(k)						\
	__JF_IMPORT_ENT("__jf_export_key_" #k, key_##k);		\
	__typeof__(k) k __JF_USED __JF_HIDDEN_DEF __JF_NEAR(k) =	\
		__JF_KEY_INIT(#k, __JF_KEY_STARTS_ON(k), 0);		\
	__JF_HIDE(__typeof__(k) k)					\
	__JF_ENT_REC_USER(k, &k.ent, &__jf_export_key_##k, 1,		\
			  sizeof(struct jf_key))
#else
/**
 * DEFINE_JF_KEY_MAYBE() - define a key that starts as an option says
 * @option: of the kernel's configuration, as in CONFIG_X: enabled if it is y or m
 * @k:      its name
 *
 * The _RO form is fixed once the module's init is done. Either may be "static".
 */
#define DEFINE_JF_KEY_MAYBE(option, k)					\
	__DEFINE_JF_KEY(k, struct jf_key, IS_ENABLED(option), 0, )
#define DEFINE_JF_KEY_MAYBE_RO(option, k)				\
	__DEFINE_JF_KEY(k, struct jf_key, IS_ENABLED(option), JF_ENT_RO, __JF_RO_DATA)

/**
 * jf_branch_maybe() - jf_branch_likely() or jf_branch_unlikely()
 * @option: of the kernel's configuration: likely if it is y or m
 * @key:    address of the key
 *
 * Return: true if the key is enabled, whatever the option says.
 */
#define jf_branch_maybe(option, key)					\
	(IS_ENABLED(option) ? jf_branch_likely(key) : jf_branch_unlikely(key))

/**
 * IMPORT_JF_KEY() - use a key of another module, or shared object
 * @k: its name; it is declared by DECLARE_JF_KEY(), and exported there
 *
 * In one source file of each object that uses it. In a kernel it is nothing.
 */
#define IMPORT_JF_KEY(k)		struct __jf_import_##k

/**
 * IMPORT_JF_KEY_ARRAY() - use an array of keys of another module, or shared object
 * @k: its name; it is declared by DECLARE_JF_KEY_ARRAY(), and exported there
 * @n: number of keys; no more than it has
 *
 * As IMPORT_JF_KEY(). In C, not in C++.
 */
#define IMPORT_JF_KEY_ARRAY(k, n)	struct __jf_import_##k

/**
 * struct jf_key_deferred - a key whose last user may be taken away later
 * @key:   the key; must come first
 * @delay: jiffies, from jf_key_dec_deferred() to then
 * @left:  1 if a user is left to @work
 * @work:  takes the last user away
 *
 * @key is for jf_branch_*() and jf_key_*(). The rest is private to jumpfunc.
 */
struct jf_key_deferred {
	struct jf_key		key;
	unsigned long		delay;
	atomic_t		left;
	struct delayed_work	work;
};

/**
 * DECLARE_JF_KEY_DEFERRED() - declare a deferred key
 * @k: its name
 */
#define DECLARE_JF_KEY_DEFERRED(k)	extern struct jf_key_deferred k

#define __DEFINE_JF_KEY_DEFERRED(k, on, _delay)				\
	struct jf_key_deferred k __used = {				\
		.key	= __JF_KEY_INIT(#k, on, JF_ENT_DEFERRED),	\
		.delay	= (_delay),					\
		.work	= __DELAYED_WORK_INITIALIZER((k).work,		\
						     jf_key_deferred_work, 0), \
	};								\
	__JF_KEY_REC(k, 1)

/**
 * DEFINE_JF_KEY_DEFERRED_FALSE() - define a deferred key that starts disabled
 * @k:     its name; the key for jf_branch_*() and the like is k.key
 * @delay: jiffies that jf_key_dec_deferred() leaves to a new user, a constant; more
 *         than MAX_JIFFY_OFFSET counts as that
 *
 * DEFINE_JF_KEY_DEFERRED_TRUE() is the same for one that starts enabled. May be
 * "static".
 */
#define DEFINE_JF_KEY_DEFERRED_FALSE(k, delay)				\
	__DEFINE_JF_KEY_DEFERRED(k, 0, delay)
#define DEFINE_JF_KEY_DEFERRED_TRUE(k, delay)				\
	__DEFINE_JF_KEY_DEFERRED(k, 1, delay)

void jf_key_deferred_work(struct work_struct *work);


/**
 * EXPORT_JF_KEY() - let other modules use and change a key
 * @k: its name; they need DECLARE_JF_KEY(), _ARRAY() or _DEFERRED()
 *
 * The _ARRAY forms are for an array of keys, the _GPL forms for modules with a
 * GPL-compatible licence.
 */
#define EXPORT_JF_KEY(k)		EXPORT_SYMBOL(k)
#define EXPORT_JF_KEY_GPL(k)		EXPORT_SYMBOL_GPL(k)
#define EXPORT_JF_KEY_ARRAY(k)		EXPORT_SYMBOL(k)
#define EXPORT_JF_KEY_ARRAY_GPL(k)	EXPORT_SYMBOL_GPL(k)
#endif

__JF_BEGIN_DECLS

/**
 * jf_key_enable() - enable a key
 * @key: the key
 *
 * Does nothing if it is enabled already; otherwise its count becomes 1.
 *
 * In the kernel, a user that jf_key_dec_deferred() was to remove later is not removed
 * any more.
 *
 * Context: process context, may sleep; see jf_batch_commit().
 * Return: 0, or an error of jf_batch_commit(); unless it is -EIO, nothing has
 * changed.
 */
int __JF_MUST_CHECK jf_key_enable(struct jf_key *key);

/**
 * jf_key_disable() - disable a key
 * @key: the key
 *
 * Does nothing if it is disabled already.
 *
 * Context: process context, may sleep; see jf_batch_commit().
 * Return: 0, -EBUSY if it has more than one user (jf_key_inc()), or an error of
 * jf_batch_commit(); unless that is -EIO, nothing has changed.
 */
int __JF_MUST_CHECK jf_key_disable(struct jf_key *key);

/**
 * jf_key_inc() - add a user of a key; the first one enables it
 * @key: the key
 *
 * This takes no lock if the key has users already.
 *
 * Context: process context, may sleep; see jf_batch_commit().
 * Return: 0, -EOVERFLOW if it has INT_MAX users, or an error of
 * jf_batch_commit(); unless that is -EIO, nothing has changed. After -EIO the user
 * counts, and is removed by jf_key_dec().
 */
int __JF_MUST_CHECK jf_key_inc(struct jf_key *key);

/**
 * jf_key_dec() - remove a user of a key; the last one disables it
 * @key: the key
 *
 * This takes no lock if it is not the last one.
 *
 * Context: process context, may sleep; see jf_batch_commit().
 * Return: 0, -EINVAL if it has no user, or an error of jf_batch_commit();
 * unless that is -EIO, nothing has changed.
 */
int __JF_MUST_CHECK jf_key_dec(struct jf_key *key);

#ifdef __KERNEL__
/**
 * jf_key_enable_cpuslocked() - enable a key, under cpus_read_lock()
 * @key: the key
 *
 * For callers that hold the CPU hotplug lock for reading, and for CPU hotplug
 * callbacks that may sleep; so are the next three.
 *
 * Context: process context, may sleep, with the hotplug lock held.
 * Return: as jf_key_enable().
 */
int __JF_MUST_CHECK jf_key_enable_cpuslocked(struct jf_key *key);

/**
 * jf_key_disable_cpuslocked() - disable a key, under cpus_read_lock()
 * @key: the key
 *
 * Context: process context, may sleep, with the hotplug lock held.
 * Return: as jf_key_disable().
 */
int __JF_MUST_CHECK jf_key_disable_cpuslocked(struct jf_key *key);

/**
 * jf_key_inc_cpuslocked() - add a user of a key, under cpus_read_lock()
 * @key: the key
 *
 * Context: process context, may sleep, with the hotplug lock held.
 * Return: as jf_key_inc().
 */
int __JF_MUST_CHECK jf_key_inc_cpuslocked(struct jf_key *key);

/**
 * jf_key_dec_cpuslocked() - take a user of a key away, under cpus_read_lock()
 * @key: the key
 *
 * Context: process context, may sleep, with the hotplug lock held.
 * Return: as jf_key_dec().
 */
int __JF_MUST_CHECK jf_key_dec_cpuslocked(struct jf_key *key);

/**
 * jf_key_inc_not_zero() - add a user of a key that has some
 * @key: the key
 *
 * Context: any. Return: true if a user was added. False, with nothing changed, if
 * the key has none, has INT_MAX, is read-only, or if its module is being unloaded.
 */
bool jf_key_inc_not_zero(struct jf_key *key);

/**
 * jf_key_dec_deferred() - remove a user of a key; the last one later
 * @d: the deferred key
 *
 * If it is the last one, it is removed after the key's delay, and the key is
 * disabled then, unless users were added. If disabling it fails then, for one of
 * the reasons that jf_batch_commit() has, that is tried again every second or, if
 * that is longer, after the key's delay, and the log says so. Pending work is cancelled when the
 * key's module is unloaded.
 *
 * Context: any but NMI; does not sleep.
 * Return: 0, -EINVAL if the key has no user, or none but the one that is to be
 * removed already, or -EBUSY if its module is being unloaded.
 */
int __JF_MUST_CHECK jf_key_dec_deferred(struct jf_key_deferred *d);

/**
 * jf_key_deferred_flush() - do now the pending work of jf_key_dec_deferred()
 * @d: the deferred key
 *
 * Context: process context, may sleep; not under cpus_read_lock(), nor from a CPU
 * hotplug callback.
 */
void jf_key_deferred_flush(struct jf_key_deferred *d);

/**
 * jf_key_deferred_delay() - how much later a deferred key is disabled
 * @d:     the deferred key
 * @delay: in jiffies
 *
 * For users that are taken away from now on; work that is pending keeps its time.
 *
 * Context: any.
 */
static inline void jf_key_deferred_delay(struct jf_key_deferred *d,
					 unsigned long delay)
{
	WRITE_ONCE(d->delay, delay);
}
#endif

/**
 * jf_key_count() - return the number of users of a key
 * @key: the key
 *
 * Context: any. Return: the number; a racing update may have changed it since.
 */
static inline int jf_key_count(const struct jf_key *key)
{
	return __JF_LOAD(key->count);
}

/**
 * jf_key_enabled() - load the state of a key from memory, without a branch site
 * @key: the key
 *
 * Context: any. Return: its state; a racing update may have changed it since.
 */
static inline bool jf_key_enabled(const struct jf_key *key)
{
	return __JF_LOAD(key->enabled);
}

/**
 * jf_key_batch_set() - add a change of a key to a batch
 * @b:   the batch
 * @key: the key
 * @on:  enable the key as jf_key_enable() does, or disable it as
 *       jf_key_disable() does
 *
 * Context: process context, may sleep (allocates).
 * Return: 0 or -ENOMEM, which jf_batch_commit() returns as well.
 */
static inline int jf_key_batch_set(struct jf_batch *b, struct jf_key *key, bool on)
{
	return __jf_batch_set_key(b, key, on);
}
__JF_END_DECLS

#endif /* JUMPFUNC_BRANCH_H */
