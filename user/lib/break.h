/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Steps left out on purpose, for the engine, the library and their storms. */
#ifndef JF_BREAK_H
#define JF_BREAK_H

/*
 * The storms exist also in a build that can drop one step of the protocol, to learn the purpose of
 * each: common/x86/protocol.h asks jf_broken() everywhere, and no other build says yes.
 */
#ifdef JF_BREAK
enum jf_break {
	JF_BREAK_NONE,
	JF_BREAK_SYNC1,		/* no broadcast after the INT3s */
	JF_BREAK_SYNC2,		/* none after the tails */
	JF_BREAK_SYNC3,		/* none after the first bytes */
	JF_BREAK_INT3,		/* no INT3: tails written under the callers' feet */
	JF_BREAK_ORDER,		/* first bytes before the tails */
	JF_BREAK_PUBLISH,	/* the handler is told when all is over */
	JF_BREAK_QUIESCE,	/* jf_quiesce() does not wait */
};

extern enum jf_break jf_break;
#define jf_broken(step)	(jf_break == JF_BREAK_##step)
#else
#define jf_broken(step)	false
#endif

#endif /* JF_BREAK_H */
