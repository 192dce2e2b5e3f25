/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The effects of operations on a key's count, for KUnit, above the fake and above
 * jumpfunc.ko, and for the tests of libjumpfunc.
 *
 * API:
 *   jf_key_scripts[]			sequences of operations
 *   jf_key_step(key, op)		one of them
 *   jf_key_script_count(count, op)	the new count, if it succeeds
 *   jf_key_script_err(op)		how it fails, where a script says that it does
 *
 * Include <jumpfunc/branch.h> first.
 */
#ifndef JF_SELFTESTS_KEYS_H
#define JF_SELFTESTS_KEYS_H

/*
 * One letter is one operation on the key:
 *   e enable  d disable  i inc  D dec  1 batch "on"  0 batch "off"
 * in upper or lower case as listed; after '!' it has to fail.
 */
struct jf_key_script {
	const char	*steps;
	bool		on;		/* at first */
	int		count;		/* in the end */
	unsigned int	transactions;
};

static const struct jf_key_script jf_key_scripts[] = {
	{ "e", false, 1, 1 },
	{ "ee", false, 1, 1 },
	{ "ed", false, 0, 2 },
	{ "edd", false, 0, 2 },
	{ "eded", false, 0, 4 },
	{ "d", false, 0, 0 },
	{ "!D", false, 0, 0 },
	{ "i", false, 1, 1 },
	{ "ii", false, 2, 1 },
	{ "iiiD", false, 2, 1 },
	{ "iDiD", false, 0, 4 },
	{ "iiDD", false, 0, 2 },
	{ "iiDD!D!D", false, 0, 2 },
	{ "iiiiiDDDDD", false, 0, 2 },
	/* enable() adds a user only to a count of 0. */
	{ "ie", false, 1, 1 },
	{ "iie", false, 2, 1 },
	{ "ei", false, 2, 1 },
	{ "eiDD", false, 0, 2 },
	/* disable() does not take away the users of others. */
	{ "id", false, 0, 2 },
	{ "ii!d", false, 2, 1 },
	{ "ii!dDd", false, 0, 2 },
	/* A batch is like enable() and disable(). */
	{ "1", false, 1, 1 },
	{ "11", false, 1, 1 },
	{ "10", false, 0, 2 },
	{ "0", false, 0, 0 },
	{ "ii1", false, 2, 1 },
	{ "ii!0", false, 2, 1 },
	{ "ii!0D0", false, 0, 2 },
	{ "1iD0", false, 0, 2 },
	/* One that starts enabled has one user. */
	{ "", true, 1, 0 },
	{ "e", true, 1, 0 },
	{ "1", true, 1, 0 },
	{ "D", true, 0, 1 },
	{ "D!D", true, 0, 1 },
	{ "d", true, 0, 1 },
	{ "0", true, 0, 1 },
	{ "i!dDd", true, 0, 1 },
	{ "dedede", true, 1, 6 },
};

static int jf_key_batch_of_one(struct jf_key *key, bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, key, on);
	return jf_batch_commit(&b);
}

static int jf_key_step(struct jf_key *key, char op)
{
	switch (op) {
	case 'e': return jf_key_enable(key);
	case 'd': return jf_key_disable(key);
	case 'i': return jf_key_inc(key);
	case 'D': return jf_key_dec(key);
	case '1': return jf_key_batch_of_one(key, true);
	case '0': return jf_key_batch_of_one(key, false);
	}
	return -ENOSYS;
}

static inline int jf_key_script_count(int count, char op)
{
	switch (op) {
	case 'i': return count + 1;
	case 'D': return count - 1;
	case 'e':
	case '1': return count > 1 ? count : 1;
	}
	return 0;
}

static inline int jf_key_script_err(char op)
{
	return op == 'D' ? -EINVAL : -EBUSY;
}

#endif /* JF_SELFTESTS_KEYS_H */
