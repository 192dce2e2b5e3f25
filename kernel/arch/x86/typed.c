// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that are called with another type than their own.
 *
 * In a kernel with kCFI each indirect call compares a hash of the type that it
 * calls with the one that the compiler put in front of the function. With FineIBT
 * the kernel has made the latter a check in code. Either way, these bytes are the same for all
 * functions of one type, and does not depend on its address. So a stub, which is a jump to the
 * function, has in front of it a copy of the bytes in front of some function of the type:
 *
 *		<JF_TYPE_LEN bytes, copied>
 *	stub:	<endbr, or the kernel's replacement of it, copied>
 *		jmp	func
 *
 * A stub is filled in once, before its address is given out, and stays. Stubs are found again by
 * their target and by their type. All of them are freed with jumpfunc's text.
 */
#include "arch/x86/x86.h"
#include "arch/x86/typed.h"

#include "arch/image.h"
#include "index/state.h"

#include <linux/string.h>

/* From the copied bytes to the end of the jump. */
#define JF_STUB_LEN	(JF_TYPE_LEN + JF_ENDBR_LEN + JF_INSN_SIZE)
#define JF_STUB_STRIDE	ALIGN(JF_STUB_LEN, 16)

extern u8 jf_stubs[], jf_stubs_end[];

/* Number of stubs in use. jf_lock() nests inside. */
static DEFINE_MUTEX(jf_stubs_mutex);
/* Target of each stub in use. */
static unsigned long jf_stub_func[JF_TYPED_STUBS];
static unsigned int jf_stubs_used;

/* True for a type, in one of the forms that are known to work as a copy. */
static bool jf_is_type(const u8 *head)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 sub[] = { 0x41, 0x81, 0xea };
	static const u8 ud2[] = { 0x0f, 0x0b };

	/* mov $hash, %eax: all the caller looks at is the hash. */
	if (head[IS_ENABLED(CONFIG_CALL_PADDING) ? 0 : JF_TYPE_LEN - 5] == 0xb8)
		return true;
	/* endbr64; sub $hash, %r10d; je stub; ud2; nop */
	return JF_TYPE_LEN == 16 && !memcmp(head, endbr, sizeof(endbr)) &&
	       !memcmp(head + 4, sub, sizeof(sub)) && head[11] == 0x74 &&
	       head[12] == 3 && !memcmp(head + 13, ud2, sizeof(ud2));
}

static int jf_stub_fill(u8 *head, const u8 *type, unsigned long func)
{
	u8 was[JF_STUB_LEN], buf[JF_STUB_LEN];
	unsigned int jmp = JF_TYPE_LEN + JF_ENDBR_LEN;
	jf_insn_t insn;
	int err;

	memcpy(was, head, sizeof(was));
	memcpy(buf, type, jmp);
	err = jf_insn_jmp(&insn, (unsigned long)head + jmp, func);
	if (err)
		return err;
	jf_insn_store(buf + jmp, insn);
	err = jf_write_idle(head, was, buf, sizeof(buf));
	if (err)
		return err;
	jf_lock();
	jf_arch_settle();
	jf_unlock();
	return 0;
}

static int jf_stub_get(void *func, const void *like, void **typed)
{
	const u8 *type = (const u8 *)like - JF_TYPE_LEN;
	u8 *head = jf_stubs;
	unsigned int i;
	int err;

	if (!like || !jf_is_type(type))
		return -EOPNOTSUPP;
	for (i = 0; i < jf_stubs_used; i++, head += JF_STUB_STRIDE)
		if (jf_stub_func[i] == (unsigned long)func &&
		    !memcmp(head, type, JF_TYPE_LEN))
			goto out;
	if (i == JF_TYPED_STUBS || head + JF_STUB_STRIDE > jf_stubs_end)
		return -ENOSPC;
	err = jf_stub_fill(head, type, (unsigned long)func);
	if (err)
		return err;
	jf_stub_func[i] = (unsigned long)func;
	jf_stubs_used++;
out:
	*typed = head + JF_TYPE_LEN;
	return 0;
}

int jf_arch_typed(void *func, const void *like, void **typed)
{
	int err;

	mutex_lock(&jf_stubs_mutex);
	err = jf_stub_get(func, like, typed);
	mutex_unlock(&jf_stubs_mutex);
	return err;
}
