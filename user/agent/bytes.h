/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Numbers in the sections of frames, read from the front.
 *
 * API:
 *   take(b, size)	so many bytes, or NULL
 *   fixed(b, size)	a number of 8 bytes at most
 *   leb(b)		a number in groups of 7 bits, without a look at its sign
 *
 * After a read beyond the end @at is NULL, and all values are 0.
 */
#ifndef JF_BYTES_H
#define JF_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct bytes - a part of a section
 * @at:   the next byte
 * @end:  after the last one
 * @addr: of @at, from the object's own 0 on; for readers that need it
 */
struct bytes {
	const uint8_t	*at;
	const uint8_t	*end;
	uint64_t	addr;
};

static inline const uint8_t *take(struct bytes *b, uint64_t size)
{
	const uint8_t *at = b->at;

	if (!at || size > (uint64_t)(b->end - at)) {
		b->at = NULL;
		return NULL;
	}
	b->at += size;
	b->addr += size;
	return at;
}

static inline uint64_t fixed(struct bytes *b, unsigned int size)
{
	const uint8_t *at = take(b, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

static inline uint64_t leb(struct bytes *b)
{
	uint64_t value = 0;
	unsigned int shift;
	const uint8_t *at;

	for (shift = 0; (at = take(b, 1)); shift += 7) {
		if (shift < 64)
			value |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at & 0x80))
			return value;
	}
	return 0;
}

#endif /* JF_BYTES_H */
