// SPDX-License-Identifier: GPL-2.0
/*
 * The properties of this machine, for readers of the numbers. How calls through
 * pointers run is not asked but looked at: the kernel may have patched them.
 */
#include "bench.h"

#if JFB_X86

#include "common/x86/insn.h"

#include <asm/cpufeature.h>
#include <asm/processor.h>
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#endif

const char *jfb_hypervisor(void)
{
	static char sig[13];
	unsigned int eax;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return "none";
	cpuid(0x40000000, &eax, (unsigned int *)sig, (unsigned int *)(sig + 4),
	      (unsigned int *)(sig + 8));
	return sig[0] ? sig : "unknown";
}

const char *jfb_emulator(void)
{
	return strcmp(jfb_hypervisor(), "TCGTCGTCGTCG") ? NULL : "QEMU TCG";
}

const char *jfb_cpu_model(void)
{
	return boot_cpu_data.x86_model_id;
}

#if defined(CONFIG_RETPOLINE) || defined(CONFIG_MITIGATION_RETPOLINE)
/* Under other names: some kernels declare them, as something else. */
#define THUNK(reg)	extern const char thunk_##reg[] asm("__x86_indirect_thunk_" #reg);
THUNK(rax) THUNK(rbx) THUNK(rcx) THUNK(rdx) THUNK(rsi) THUNK(rdi) THUNK(rbp)
THUNK(r8) THUNK(r9) THUNK(r10) THUNK(r11) THUNK(r12) THUNK(r13) THUNK(r14)
THUNK(r15)

static const void * const thunks[] = {
#undef THUNK
#define THUNK(reg)	thunk_##reg,
THUNK(rax) THUNK(rbx) THUNK(rcx) THUNK(rdx) THUNK(rsi) THUNK(rdi) THUNK(rbp)
THUNK(r8) THUNK(r9) THUNK(r10) THUNK(r11) THUNK(r12) THUNK(r13) THUNK(r14)
THUNK(r15)
};

static bool is_thunk(const void *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(thunks); i++)
		if (p == thunks[i])
			return true;
	return false;
}
#else
static bool is_thunk(const void *p)
{
	return false;
}
#endif

/* Length of "call *reg" or "jmp *reg" at @p, 0 if it is neither. */
static unsigned int branch_reg(const u8 *p, u8 modrm)
{
	unsigned int rex = p[0] == 0x41;

	return p[rex] == 0xff && (p[rex + 1] & 0xf8) == modrm ? rex + 2 : 0;
}

static bool is_lfence(const u8 *p)
{
	return p[0] == 0x0f && p[1] == 0xae && p[2] == 0xe8;
}

/* The bytes in the kernel at the address that the compiler's code calls. */
static const char *look_at_thunk(const u8 *p)
{
	uint64_t to;

	if (jf_insn_decode(jf_insn_load(p), (unsigned long)p, &to) ==
	    JF_INSN_CALL)
		return "retpoline (call of a thunk, which returns to the target)";
	if (is_lfence(p))
		return "call of a thunk: lfence; jmp *reg";
	if (branch_reg(p, 0xe0))
		return "call of a thunk: jmp *reg";
	return "call of a thunk of a kind that the benchmark does not know";
}

const char *jfb_pointer_call(void)
{
	const u8 *start = (const u8 *)jfb_specimen, *p;
	uint64_t to;

	/* Else objtool sees the address of something inside of a function. */
	OPTIMIZER_HIDE_VAR(start);
	/*
	 * The specimen has one call. The bytes of its other instructions cannot
	 * be taken for one: a false "e8" would not lead to a thunk.
	 *
	 * The compiler must not work out the end: objtool would take that for
	 * the address of something that is called.
	 */
	OPTIMIZER_HIDE_VAR(start);
	for (p = start; p < start + 40; p++) {
		if (is_lfence(p) && branch_reg(p + 3, 0xd0))
			return "lfence; call *reg";
		if (branch_reg(p, 0xd0))
			return "plain (call *reg)";
		if (jf_insn_decode(jf_insn_load(p), (unsigned long)p, &to) !=
		    JF_INSN_CALL)
			continue;
		if (is_thunk((void *)(unsigned long)to))
			return look_at_thunk((const u8 *)(unsigned long)to);
#ifdef X86_FEATURE_INDIRECT_THUNK_ITS
		/* Its thunks are not exported, so there is no name to compare. */
		if (boot_cpu_has(X86_FEATURE_INDIRECT_THUNK_ITS))
			return "call of a thunk that keeps to half a cache line (ITS): jmp *reg";
#endif
	}
	return "code that the benchmark does not know";
}

const char *jfb_return(void)
{
#ifdef X86_FEATURE_RETHUNK
	if (boot_cpu_has(X86_FEATURE_RETHUNK))
		return "through a thunk";
#endif
	return "plain";
}

#else /* JFB_X86 */

const char *jfb_hypervisor(void)
{
	return "unknown";
}

const char *jfb_emulator(void)
{
	return NULL;
}

const char *jfb_cpu_model(void)
{
	return "unknown";
}

const char *jfb_pointer_call(void)
{
	return "as the compiler made it";
}

const char *jfb_return(void)
{
	return "as the compiler made it";
}

#endif /* JFB_X86 */
