/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels on architectures without patching: a load and a test.
 * Included by branch.h only.
 *
 * In a program the load pairs with the store in user/lib/value.c: stores before a change are seen
 * on the branch. (In a kernel the change's grace periods see to that.)
 */
#ifndef JUMPFUNC_BRANCH_GENERIC_H
#define JUMPFUNC_BRANCH_GENERIC_H

#ifndef JUMPFUNC_BRANCH_H
#error "include <jumpfunc/branch.h>"
#endif

static __JF_INLINE bool __jf_branch_unlikely(struct jf_key * const key)
{
	return __JF_LOAD_SITE(key->enabled);
}

static __JF_INLINE bool __jf_branch_likely(struct jf_key * const key)
{
	return __JF_LOAD_SITE(key->enabled);
}

#endif /* JUMPFUNC_BRANCH_GENERIC_H */
