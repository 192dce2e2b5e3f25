// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The values of keys and dynamic functions, and of entities that stand in for them.
 * Text is another matter; this file calls no other part.
 */
#include "lib.h"

uintptr_t jf_ent_value(const struct jf_ent *ent)
{
	if (ent->type == JF_ENT_KEY)
		return jf_key_of(ent)->enabled;
	return (uintptr_t)__atomic_load_n(&jf_func_of(ent)->func, __ATOMIC_RELAXED);
}

static void ent_store(struct jf_ent *ent, uintptr_t value)
{
	if (ent->type == JF_ENT_KEY) {
		/*
		 * Pairs with the load in __jf_branch_body(), which x86 keeps before later
		 * ones and which acquires elsewhere, as the generic form's load does: stores before
		 * the change are seen on the branch.
		 */
		__atomic_store_n(&jf_key_of(ent)->enabled, (uint8_t)value, __ATOMIC_RELEASE);
	} else {
		/*
		 * Pairs with the trampoline's jump through the pointer: the target sees what
		 * was written before, the iterator its array.
		 */
		__atomic_store_n(&jf_func_of(ent)->func, (void *)value, __ATOMIC_RELEASE);
	}
}

void jf_count_set(const struct jf_ctl *real, int count)
{
	/* Pairs with jf_count_inc(): a caller that counts finds sites on. */
	__atomic_store_n(&jf_key_of(real->ent)->count, count, __ATOMIC_SEQ_CST);
	jf_count_follow(real);
}

/*
 * Other callers may count at the same time. A caller that stored a number which is not
 * the last one finds that when it loads the count again, and stores that; and the caller
 * that made the last one stores it afterwards.
 */
void jf_count_follow(const struct jf_ctl *real)
{
	const struct jf_key *key = jf_key_of(real->ent);
	/* Pairs with jf_count_swap() and with link_proxy(): none of them is missed by both. */
	int now = __atomic_load_n(&key->count, __ATOMIC_SEQ_CST), n;
	const struct jf_ctl *p;

	do {
		n = now;
		/* Pairs with link_proxy(): the entries of the list are complete. */
		for (p = __atomic_load_n(&real->proxies, __ATOMIC_ACQUIRE); p;
		     p = __atomic_load_n(&p->next_proxy, __ATOMIC_ACQUIRE))
			__atomic_store_n(&jf_key_of(p->ent)->count, n, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(&key->count, __ATOMIC_SEQ_CST);
	} while (now != n);
}

void jf_ent_copy(struct jf_ent *to, const struct jf_ent *from)
{
	ent_store(to, jf_ent_value(from));
	if (to->type == JF_ENT_KEY)
		__atomic_store_n(&jf_key_of(to)->count, jf_key_count(jf_key_of(from)),
				 __ATOMIC_RELAXED);
}

void jf_ent_reset(struct jf_ent *key)
{
	ent_store(key, !!(key->flags & JF_ENT_ON));
	__atomic_store_n(&jf_key_of(key)->count, !!(key->flags & JF_ENT_ON), __ATOMIC_RELAXED);
}

void jf_ctl_apply(struct jf_ctl *ctl)
{
	struct jf_ctl *real = jf_ctl_real(ctl), *p;

	/* Pairs with the iterator's load, on which the loads of the array depend. */
	if (real->also)
		__atomic_store_n(real->also, real->stored, __ATOMIC_RELEASE);
	if (jf_ent_value(real->ent) == real->value)
		return;
	ent_store(real->ent, real->value);
	for (p = real->proxies; p; p = p->next_proxy)
		ent_store(p->ent, real->value);
}

/*
 * The targets of dynamic functions that have no other. Both can stand in for functions of any type:
 * arguments travel in registers or in the caller's frame.
 */
void jf_nop(void)
{
}

long jf_ret0(void)
{
	return 0;
}
