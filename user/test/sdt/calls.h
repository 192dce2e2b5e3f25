/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Probe functions of the programs that jf-sdt is tested with. No file defines them. */
#ifndef CALLS_H
#define CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

void __dtrace_calls___six(long a, long b, const char *c, int d, unsigned char e, long f);
void __dtrace_calls___mixed(int a, double b, float c, void *d);
void __dtrace_calls___many(long a, long b, long c, long d, long e, long f, long g, long h);
void __dtrace_calls___last(int a);
void __dtrace_calls___guarded(long a);
int __dtraceenabled_calls___guarded(void);
void __dtrace_calls___shared(int a);
void __dtrace_calls___storm(unsigned long a, unsigned long b);
void __dtrace_probe_alone(void);

/* Of the second file. */
int second(int x);
int second_guarded(long x);

/* In C++ both files have it, and the linker keeps one. */
#ifdef __cplusplus
inline __attribute__((noinline))
#else
static __attribute__((noinline, unused))
#endif
int in_header(int x)
{
	__dtrace_calls___shared(x);
	return x + 1;
}

#ifdef __cplusplus
}
#endif

#endif /* CALLS_H */
