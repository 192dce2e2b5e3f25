/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Functions of subject.c, and their results. */
#ifndef JF_SUBJECT_H
#define JF_SUBJECT_H

#include <setjmp.h>
#include <stdint.h>

uint64_t subject_same(uint64_t a);			/* a */
void subject_nothing(void);
uint64_t subject_twice(uint64_t a);			/* 2 a */
uint64_t subject_landing(uint64_t a);			/* a + 3 */
uint64_t subject_loop(uint64_t a, uint64_t n);		/* a n */
uint64_t subject_pushes(uint64_t a, uint64_t b);	/* a + b */
uint64_t subject_load(uint64_t a);			/* a + 17 */
uint64_t subject_short_load(uint64_t a);		/* a + 17 */
uint64_t subject_branch(uint64_t a);			/* 1; 2 for 0 */
/* a + 5; a + 6 for d = 0 */
uint64_t subject_branch_first(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
uint64_t subject_calls(uint64_t a);			/* 3 a */
uint64_t subject_jumps(uint64_t a);			/* 2 a */
double subject_vectors(double a, double b, double c, double d, double e, double f, double g, double h);
uint64_t subject_flags(uint64_t a, uint64_t b);		/* a + b + 1 to 5: how a compares to b */
uint64_t subject_patchable(uint64_t a, uint64_t b);	/* 3 a + b */
uint64_t subject_fentry(uint64_t a);			/* a + 30 */
uint64_t subject_fentry_landing(uint64_t a);		/* a + 31 */
uint64_t subject_nop10(uint64_t a);			/* a + 10; its note is at note_nop10 */
uint64_t subject_nop5(uint64_t a);			/* a + 5 */
/* Each a. */
uint64_t byte_1(uint64_t a), byte_2(uint64_t a), byte_3(uint64_t a);
uint64_t byte_4(uint64_t a), byte_5(uint64_t a), byte_6(uint64_t a);
uint64_t subject_pointer(const char *const *a);		/* *a, as a number */
void note_nop10(void);
void note_nop5(void);
uint64_t subject_table(uint64_t a, uint64_t b);
uint64_t subject_notes(uint64_t a, int b, unsigned char c);	/* a + 1 + b + c */
void subject_leave(jmp_buf env);			/* longjmp(env, 7) */
uint64_t beside_site(uint64_t a);			/* a + 1; a + 2 after beside_set(1) */
int beside_set(int on);

#endif /* JF_SUBJECT_H */
