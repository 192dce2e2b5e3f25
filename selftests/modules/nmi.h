/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NMIs that a test sends to a CPU, which then runs a function of the test; none where
 * jumpfunc has no patching on x86. To be included after jumpfunc's headers.
 */
#ifndef TEST_NMI_H
#define TEST_NMI_H

#if JF_HAVE_PATCHING && defined(CONFIG_X86_64)
#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/nmi.h>

static DEFINE_PER_CPU(int, nmi_wanted);
static void (*nmi_call)(void);

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_xchg(nmi_wanted, 0))
		return NMI_DONE;
	nmi_call();
	return NMI_HANDLED;
}

/* One at a time: an NMI without a request would be of unknown reason. */
static inline void nmi_send(int cpu)
{
	if (!xchg(per_cpu_ptr(&nmi_wanted, cpu), 1))
		apic->send_IPI(cpu, NMI_VECTOR);
}

static inline int nmi_start(void (*call)(void))
{
	nmi_call = call;
	return register_nmi_handler(NMI_LOCAL, nmi_handler, 0, KBUILD_MODNAME);
}

static inline void nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}

#else
static inline void nmi_send(int cpu) { }
static inline int nmi_start(void (*call)(void)) { return 0; }
static inline void nmi_stop(void) { }
#endif

#endif /* TEST_NMI_H */
