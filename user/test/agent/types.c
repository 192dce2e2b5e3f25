// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Functions with arguments of each kind, and their values as types.sh expects them. Also in C++. */
#include <stdint.h>
#include <stdio.h>

/* Functions of the same code stay apart, and nothing is known of one in another. */
#if defined(__GNUC__) && !defined(__clang__)
#define KEEP __attribute__((__noipa__))
#else
#define KEEP __attribute__((__noinline__, __used__))
#endif
/* Each has room for a jump of its own. */
/* Else a caller need not pass it. */
#define USE(x) __asm__ volatile("" : : "m" (x))
#define EFFECT __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" : : : "memory")

enum speed { SLOW, FAST = 7, BACK = -2 };
enum plain { ONE = 1, TWO };
struct order { int price; long count; };
struct pair { long a; double b; };
struct point { float x, y; };
struct big { long a[3]; };
typedef const char *text;

#ifdef __cplusplus
extern "C" {
#endif
KEEP void integers(signed char a, unsigned char b, short c, uint16_t d, int e, unsigned int f) { EFFECT; USE(a); USE(b); USE(c); USE(d); USE(e); USE(f); }
KEEP void wide(long a, unsigned long long b, void *c) { EFFECT; USE(a); USE(b); USE(c); }
KEEP void speeds(enum speed a, enum plain b) { EFFECT; USE(a); USE(b); }
KEEP void texts(const char *name, char *to, text other) { EFFECT; USE(name); USE(to); USE(other); }
KEEP void reals(int n, double a, float b, long m, double c) { EFFECT; USE(n); USE(a); USE(b); USE(m); USE(c); }
KEEP void pairs(struct pair p, int after) { EFFECT; USE(p); USE(after); }
KEEP void points(struct point p, int after) { EFFECT; USE(p); USE(after); }
KEEP struct big bigs(int n, struct big b, int m) { EFFECT; USE(n); USE(m); USE(b); return b; }
KEEP void many(int a, int b, int c, int d, int e, int f, int g) { EFFECT; USE(a); USE(b); USE(c); USE(d); USE(e); USE(f); USE(g); }
KEEP void spill(int a, int b, int c, int d, int e, int f, int g, double x0, double x1, double x2, double x3, double x4, double x5, float x6, double x7, double x8, int h)
{ EFFECT; USE(a); USE(b); USE(c); USE(d); USE(e); USE(f); USE(g); USE(x0); USE(x1); USE(x2); USE(x3); USE(x4); USE(x5); USE(x6); USE(x7); USE(x8); USE(h); }
KEEP void taken(int ip, int caller, int other) { EFFECT; USE(ip); USE(caller); USE(other); }
KEEP void unsure(int a, long double b, int c) { EFFECT; USE(a); USE(b); USE(c); }
KEEP void nothing(void) { EFFECT; }
#ifdef __cplusplus
}
#endif

int main(void)
{
	struct pair p = { 11, 2.5 };
	struct point q = { 0.5F, 1.5F };
	struct big b = { { 1, 2, 3 } };
	char to[] = "there";

	integers(-1, 255, -300, 65535, -70000, 4000000000U);
	wide(-5, 18446744073709551615ULL, &b);
	speeds(BACK, TWO);
	texts("a name", to, NULL);
	reals(1, 1.25, -2.5F, 3, 1e100);
	pairs(p, 12);
	points(q, 13);
	b = bigs(14, b, 15);
	many(1, 2, 3, 4, 5, 6, 7);
	spill(1, 2, 3, 4, 5, 6, 7, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5F, 7.5, 8.5, 8);
	taken(21, 22, 23);
	unsure(31, 1.0L, 32);
	nothing();
	return b.a[0] != 1;
}
