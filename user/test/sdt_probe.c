// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probe points with every kind of argument, for sdt.sh; compiled as C and as C++,
 * and with -DTHEIRS through SystemTap's header, to compare the two.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef THEIRS
#include <sys/sdt.h>
#define NONE()			STAP_PROBE(jftest, none)
#define TYPES(a, b, c, d, e, f, g, h)					\
	STAP_PROBE8(jftest, types, a, b, c, d, e, f, g, h)
#define OTHERS(a, b, c)	STAP_PROBE3(jftest, others, a, 0UL, 0UL)
#define TWELVE(a, b, c, d, e, f, g, h, i, j, k, l)			\
	STAP_PROBE12(jftest, twelve, a, b, c, d, e, f, g, h, i, j, k, l)
#define WIDE(a, b, c, d, e, f)	STAP_PROBE6(jftest, wide, a, b, c, d, e, 0UL)
#else
#include <jumpfunc/detail/sdt_x86.h>
#define NONE()			__JF_SDT(jftest, none)
#define TYPES(a, b, c, d, e, f, g, h)					\
	__JF_SDT(jftest, types, a, b, c, d, e, f, g, h)
#define OTHERS(a, b, c)	__JF_SDT(jftest, others, a, b, c)
#define TWELVE(a, b, c, d, e, f, g, h, i, j, k, l)			\
	__JF_SDT(jftest, twelve, a, b, c, d, e, f, g, h, i, j, k, l)
#define WIDE(a, b, c, d, e, f)	__JF_SDT(jftest, wide, a, b, c, d, e, f)
#endif

enum plain { RED, GREEN = 3 };
enum negative { DOWN = -1, UP = 1 };

static inline __attribute__((always_inline))
void types(int a, long b, const char *c, bool d, unsigned short e, enum plain f,
	   signed char g, uint64_t h)
{
	TYPES(a, b, c, d, e, f, g, h);
}

static inline __attribute__((always_inline))
void twelve(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
	    enum negative k, long l)
{
	TWELVE(a, b, c, d, e, f, g, h, i, j, k, l);
}

struct pair {
	int x, y;
};

/* A type that a note cannot describe does not keep the program from being compiled. */
static inline __attribute__((always_inline))
void others(int a, double b, struct pair c)
{
	OTHERS(a, b, c);
	(void)b;
	(void)c;
}

/* 16 bytes are a constant where this is inlined; no tool reads an argument of that size. */
__extension__ typedef __int128 int128;

static inline __attribute__((always_inline))
void wide(int a, int b, int c, int d, int e, int128 f)
{
	WIDE(a, b, c, d, e, f);
	(void)f;
}

/* An inline function of C++: two objects have it, the program once. */
#ifndef __cplusplus
static
#endif
inline void shared(int a)
{
	types(-a, -2L * a, "text", a > 0, (unsigned short)(65535 * a), GREEN,
	      (signed char)(-3 * a), UINT64_C(0x1122334455667788) * (unsigned int)a);
}
int main(int argc, char **argv)
{
	struct pair two = { argc, argc };

	(void)argv;
	shared(argc);
	NONE();
	others(argc, 1.5 * argc, two);
	twelve(argc, 2 * argc, 3, 4 * argc, 5, 6 * argc, 7 * argc, 8, 9 * argc,
	       10 * argc, DOWN, 12L * argc);
	wide(argc, 2, 3, 4, 5 * argc, (int128)7 << 70);
	return 0;
}
