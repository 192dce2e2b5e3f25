/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many dynamic functions and keys, for updates of many sites.
 */
#ifndef JFB_BULK_H
#define JFB_BULK_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

/* Dynamic functions in one object file, and object files. */
#define JFB_BULK_FUNCS	1000
#define JFB_BULK_PARTS	5
#define JFB_BULK_KEYS	1000

/* The two targets. They return the number of sites that lead there. */
unsigned int jfb_bulk_0(void);
unsigned int jfb_bulk_1(void);

/**
 * struct jfb_bulk_part - the dynamic functions of one object file
 * @funcs: they themselves; each has a trampoline and one call site
 * @run:   execute all call sites; returns how many of them reached jfb_bulk_1()
 */
struct jfb_bulk_part {
	struct jf_func	*funcs[JFB_BULK_FUNCS];
	unsigned int	(*run)(void);
};

extern const struct jfb_bulk_part jfb_bulk_part1, jfb_bulk_part2,
	jfb_bulk_part3, jfb_bulk_part4, jfb_bulk_part5;

/* Keys with one branch site each, and how many of these take their branch. */
extern struct jf_key jfb_bulk_keys[JFB_BULK_KEYS];
unsigned int jfb_bulk_run_keys(void);

/*
 * Keys with 1, 10, 100 and 1000 branch sites, and how many of these take their
 * branch; and static keys of the kernel's that are like them.
 */
#define JFB_ONE_KEYS	4
extern struct jf_key jfb_one_keys[JFB_ONE_KEYS];
unsigned int jfb_one_key_run(unsigned int i);
unsigned int jfb_static_key_run(unsigned int i);
void jfb_static_key_set(unsigned int i, bool on);

#endif /* JFB_BULK_H */
