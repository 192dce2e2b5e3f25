/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between jf_x86.c and the back ends that write x86 text.
 */
#ifndef JF_X86_H
#define JF_X86_H

#include "common/x86/insn.h"
#include "arch/text.h"

struct jf_arch_call;
struct page;

/**
 * struct jf_backend - a way to write text
 * @name:  as the module parameter names it
 * @patch: carry out a transaction, see jf_arch_patch(); NULL: text is never
 *         written, and everything runs in its unpatched form
 * @fall_through: the instruction for JF_OP_NOP at a site
 * @return_zero: the instruction for JF_OP_RET0 at a site
 * @init:  get ready; the back end is not available if that fails
 */
struct jf_backend {
	const char	*name;
	int		(*patch)(struct jf_poke *pokes, unsigned int num, bool live);
	jf_insn_t	(*fall_through)(const struct jf_site *site);
	jf_insn_t	(*return_zero)(const struct jf_site *site);
	int		(*init)(void);
};

/*
 * In front of a trampoline's jump on kernels with IBT: endbr64, or the kernel's replacement of it
 * when the module was loaded. With FineIBT no indirect branch leads there, and it is a nop.
 * (Otherwise the loader makes nops of those that objtool saw no reference to, .ibt_endbr_seal, but
 * a trampoline has one: the record of its function, in a section that objtool looks at.)
 */
#ifdef CONFIG_X86_KERNEL_IBT
#define JF_ENDBR_LEN	4
#else
#define JF_ENDBR_LEN	0
#endif

/* kernel/arch/x86/jump.S; trampolines name it. */
void jf_jump_r11(void);

/* kernel/arch/x86/image.c */
int jf_images_init(void);
void jf_images_exit(void);
int jf_image_get(const struct jf_arch_call *calls, unsigned int num,
		 unsigned int nargs, void **image);
void jf_images_count(unsigned int *used, unsigned int *total);

/* kernel/arch/x86/pages.c */
struct page *jf_page_at(unsigned long addr);
/* The kernel's own view; jf_arch_is_text() knows more. */
bool jf_is_executable(unsigned long addr);

/* kernel/arch/x86/xmc.c */
int jf_int3_init(void);
void jf_int3_exit(void);
u64 jf_int3_hits(void);
int jf_xmc_init(void);
int jf_xmc_patch(struct jf_poke *pokes, unsigned int num, bool live);
int jf_write_idle(u8 *dst, const u8 *was, const u8 *src, size_t len);
/* When it returns, all CPUs have serialised. With jf_lock() held. */
void jf_sync_all(void);
/* Compare the text with site->insn: 0, -EBUSY or -EILSEQ. */
int jf_text_check(const struct jf_site *site);

/* kernel/arch/x86/kernel.c */
#if JF_HAVE_KERNEL_BACKEND
int jf_kernel_init(void);
bool jf_kernel_can(const struct jf_poke *p);
/* True for the function that the kernel never calls, but writes "eax = 0" for. */
bool jf_kernel_is_return0(unsigned long func);
int jf_kernel_patch(struct jf_poke *pokes, unsigned int num, bool live);
/* Translate the request into the form that this protocol writes. */
void jf_kernel_rephrase(struct jf_poke *pokes, unsigned int num);
jf_insn_t jf_kernel_fall_through(const struct jf_site *site);
jf_insn_t jf_kernel_return_zero(const struct jf_site *site);
#else
static inline int jf_kernel_init(void) { return -EOPNOTSUPP; }
static inline bool jf_kernel_can(const struct jf_poke *p) { return false; }
static inline bool jf_kernel_is_return0(unsigned long func) { return false; }
static inline int jf_kernel_patch(struct jf_poke *pokes, unsigned int num,
				  bool live) { return -EOPNOTSUPP; }
static inline void jf_kernel_rephrase(struct jf_poke *pokes,
				      unsigned int num) { }
static inline jf_insn_t jf_kernel_fall_through(const struct jf_site *site)
{
	return jf_insn_nop();
}
static inline jf_insn_t jf_kernel_return_zero(const struct jf_site *site)
{
	return jf_insn_ret0();
}
#endif

/* kernel/arch/x86/stack.c: true if this address of the image is text. Whatever page tables say. */
bool jf_is_image_text(unsigned long addr);

#endif /* JF_X86_H */
