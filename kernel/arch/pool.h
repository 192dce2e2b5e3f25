/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pools of dispatch images, and how an image is filled in. It is included by the source of an
 * architecture that has images, after
 *
 *   JF_IMAGE_PAD	bytes in front of an image that belong to it
 *   jf_pools		an array of struct jf_pool (kernel/arch/layout.h): the smallest images first
 *   jf_fill_slot()	an image's slot for one call; in a copy of the image
 *   jf_insn_t		an instruction of the codec
 */
#ifndef JF_ARCH_POOL_H
#define JF_ARCH_POOL_H

static u8 *jf_image_entry(const struct jf_pool_layout *l, unsigned int i)
{
	return l->base + i * l->stride + JF_IMAGE_PAD;
}

static int jf_fill(const struct jf_pool_layout *l, u8 *entry,
		   const struct jf_arch_call *calls, unsigned int num,
		   unsigned int max)
{
	size_t len = l->stride - JF_IMAGE_PAD;
	u8 *was = kmemdup(entry, len, GFP_KERNEL);
	u8 *buf = was ? kmemdup(was, len, GFP_KERNEL) : NULL;
	unsigned int i;
	jf_insn_t insn;
	int err = 0;

	if (!buf) {
		kfree(was);
		return -ENOMEM;
	}
	for (i = 0; !err && i < num; i++)
		err = jf_fill_slot(buf, entry, l, i, &calls[i]);
	if (!err && num < max) {
		unsigned int off = l->first + num * l->slot_size;

		err = jf_insn_jmp(&insn, (unsigned long)entry + off,
				  (unsigned long)entry + l->exit);
		if (!err)
			jf_insn_store(buf + off, insn);
	}
	if (!err)
		err = jf_write_idle(entry, was, buf, len);
	kfree(buf);
	kfree(was);
	return err;
}

/* The smallest images first that can do it; a larger class where they run out. */
int jf_image_get(const struct jf_arch_call *calls, unsigned int num,
		 unsigned int nargs, void **image)
{
	unsigned int i, n;
	int err;

	for (i = 0; i < ARRAY_SIZE(jf_pools); i++) {
		struct jf_pool *pool = &jf_pools[i];
		const struct jf_pool_layout *l = pool->layout;

		if (num > pool->max_calls || nargs > pool->max_args)
			continue;
		n = find_first_zero_bit(pool->used, l->count);
		if (n >= l->count)
			continue;
		err = jf_fill(l, jf_image_entry(l, n), calls, num,
			      pool->max_calls);
		if (err)
			return err;
		__set_bit(n, pool->used);
		*image = jf_image_entry(l, n);
		return 0;
	}
	return -ENOSPC;
}

static struct jf_pool *jf_image_pool(const void *image)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_pools); i++) {
		const struct jf_pool_layout *l = jf_pools[i].layout;

		if ((u8 *)image >= l->base &&
		    (u8 *)image < l->base + l->count * l->stride)
			return &jf_pools[i];
	}
	return NULL;
}

void jf_arch_image_put(void *image)
{
	struct jf_pool *pool = jf_image_pool(image);

	if (pool)
		__clear_bit(((u8 *)image - pool->layout->base) /
			    pool->layout->stride, pool->used);
}

bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end)
{
	const struct jf_pool *pool = jf_image_pool(image);

	if (!pool)
		return false;
	/* On x86 call-depth tracking leads calls to the bytes in front. */
	*start = (unsigned long)image - JF_IMAGE_PAD;
	*end = *start + pool->layout->stride;
	return true;
}

void jf_images_count(unsigned int *used, unsigned int *total)
{
	unsigned int i;

	*used = 0;
	*total = 0;
	for (i = 0; i < ARRAY_SIZE(jf_pools); i++) {
		*used += bitmap_weight(jf_pools[i].used,
				       jf_pools[i].layout->count);
		*total += jf_pools[i].layout->count;
	}
}

void jf_images_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_pools); i++)
		bitmap_free(jf_pools[i].used);
}

int jf_images_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_pools); i++) {
		jf_pools[i].used = bitmap_zalloc(jf_pools[i].layout->count,
						 GFP_KERNEL);
		if (!jf_pools[i].used) {
			jf_images_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

#endif /* JF_ARCH_POOL_H */
