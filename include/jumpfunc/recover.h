/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Reading the events that a program has recorded by record.h.
 *
 * The process may run, have ended, or have been killed.
 *
 * API:
 *   jf_recover(from, to, result)	copy all whole records of a folder to another one
 *   jf_recover_packet(...)		look at one packet in memory
 *
 * A folder that is being recorded to is a trace that babeltrace2 reads as it is. A copy by
 * jf_recover() differs from it:
 *   It stays as it is, while the process may go on recording.
 *   Packets of a ring are in one file, in their order, also if records have no time stamps.
 *   Records that were begun and not committed are left out.
 *   Nothing in it was believed: files may have been damaged, or written by another user.
 */
#ifndef JUMPFUNC_RECOVER_H
#define JUMPFUNC_RECOVER_H

#ifdef __KERNEL__
#error "for programs only"
#endif

#include <stddef.h>
#include <stdint.h>

/**
 * struct jf_recovered - how many events and packets were found
 * @rings:       rings with at least a record, or a count of lost ones
 * @packets:     packets that were used
 * @records:     whole ones, which were copied
 * @uncommitted: records that were begun and not committed
 * @discarded:   records that had found no room
 * @overwritten: records that others have overwritten
 * @damaged:     packets that are not as they should be; whole records before the damage are
 *               among @records, and so are those whose time stamps go back
 * @vanished:    packets that were overwritten while they were being read
 */
struct jf_recovered {
	uint64_t	rings;
	uint64_t	packets;
	uint64_t	records;
	uint64_t	uncommitted;
	uint64_t	discarded;
	uint64_t	overwritten;
	uint64_t	damaged;
	uint64_t	vanished;
};

/**
 * struct jf_record_seen - an event of a packet
 * @id:   of its event; 0: it was not committed, and all else is as it was begun
 * @size: bytes of @data
 * @time: its time stamp, or 0
 * @data: the fields
 */
struct jf_record_seen {
	uint16_t	id;
	uint32_t	size;
	uint64_t	time;
	const void	*data;
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * jf_recover() - copy all whole events of a folder to another one
 * @from:   a trace's folder
 * @to:     is made, and must not be there; NULL: only look
 * @result: is filled in, also if there is an error; may be NULL
 *
 * Files that are no packets of this trace are left alone. Symbolic links are not followed.
 *
 * Context: may sleep; not in a signal handler.
 * Return: 0, -ENODATA if @from has no metadata of a trace that was recorded by this library,
 * -EFBIG if that is larger than 64 MiB, -EEXIST if @to is there, -ENOMEM, or the error of a
 * system call
 */
int jf_recover(const char *from, const char *to, struct jf_recovered *result);

/* What jf_recover_packet() calls. */
typedef int jf_record_fn(const struct jf_record_seen *record, void *arg);

/**
 * jf_recover_packet() - read the events of a packet in memory
 * @data:   the packet; aligned to 8 bytes
 * @size:   its bytes
 * @fn:     is called for each record, in order; if it returns other than 0 that ends it. NULL: none
 * @arg:    its second argument
 * @result: is added to; may be NULL
 *
 * Context: any.
 * Return: 0 also if it is damaged, which @result says; -EINVAL if it is no packet at all; or what
 * @fn has returned
 */
int jf_recover_packet(const void *data, size_t size,
		      jf_record_fn *fn, void *arg, struct jf_recovered *result);

#ifdef __cplusplus
}
#endif

#endif /* JUMPFUNC_RECOVER_H */
