// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The folder of a trace, its metadata, its first file, which counts losses, and the descriptors
 * that lead to them. The folder is made by the first record of a process.
 */
#include "rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The clock is set right when it has run twice as long as the last time, up to so many seconds. */
#define CLOCK_KNOWN	1024

/*
 * Of this process; in a forked child, of the one that it comes from, until it has one: so losses
 * there are counted, even if the child can never make a folder.
 */
static struct jf_packet *no_ring_mapped;
/* Its value before. Other threads may be about to count there. */
static struct jf_packet *no_ring_before;
/*
 * Kept open, so that recording goes on after chroot() and setuid(), in children, too. @kept_shared
 * is the trace's folder of the first process that recorded, if others may write there: children
 * that may not make one beside it make theirs in it.
 */
static struct jf_kept kept_parent, kept_folder, kept_metadata, kept_shared;
static char shared_path[PATH_MAX - 128];
static uint32_t folders;
uint64_t jf_early_drops;
/* The place that counts records without a ring: no_ring_mapped, if that is there. */
uint64_t *__jf_lost = &jf_early_drops;
/* Where the agent counts those of them that are calls. Before the trace begins it has no calls. */
static uint64_t no_calls;
uint64_t *__jf_lost_calls = &no_calls;

int jf_folder_packet(int dir, const char *hidden, const char *name, size_t size, void *where,
			    struct jf_packet **made, uint32_t ring)
{
	struct jf_packet *p;
	int fd, err = 0;

	fd = dir < 0 ? dir : jf_file_make(dir, hidden, size);
	if (fd < 0)
		return fd;
	p = mmap(where, size, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	jf_close(fd);
	if (!err) {
		jf_packet_head(p, ring, size);
		if (renameat(dir, hidden, dir, name)) {
			err = -errno;
			if (!where)
				munmap(p, size);
			else
				mmap(where, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		}
	}
	if (err)
		unlinkat(dir, hidden, 0);
	else
		*made = p;
	return err;
}

/* Of the trace, by a thread that has not the lock. jf_kept_done() is to be called. */
struct jf_used jf_folder_open(void)
{
	struct jf_used dir;

	jf_live_lock();
	dir = jf_kept_open(&kept_folder, jf_live->folder);
	jf_live_unlock();
	return dir;
}

/* With the lock. Of the metadata. */
static struct jf_used open_metadata(void)
{
	struct jf_used dir, fd = { -ENOENT, false };

	if (kept_metadata.ino)
		fd = jf_kept_open(&kept_metadata, "");
	if (fd.fd >= 0)
		return fd;
	dir = jf_kept_open(&kept_folder, jf_live->folder);
	fd.fd = dir.fd < 0 ? dir.fd : openat(dir.fd, "metadata", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (dir.fd >= 0)
		fd = fd.fd < 0 ? (struct jf_used){ -errno, false } : jf_kept_take(&kept_metadata, fd.fd);
	jf_kept_done(dir);
	return fd;
}

/*
 * With the lock. The descriptor is looked at when all is ready to be written: a program may close
 * it, and open another file.
 */
void jf_folder_clock(void)
{
	char buf[256];
	uint64_t at = 0;
	size_t len = jf_metadata_clock(buf, sizeof(buf), jf_conf.clock, &at);
	struct jf_used fd;

	if (!len)
		return;
	fd = open_metadata();
	if (fd.fd >= 0)
		jf_file_write(fd.fd, buf, len, at);
	jf_kept_done(fd);
}

static int write_metadata(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, jf_live->folder);
	int fd;

	if (dir.fd < 0)
		return dir.fd;
	fd = jf_metadata_write(dir.fd, jf_live->uuid, &jf_conf, &jf_live->told);
	jf_kept_done(dir);
	if (fd < 0)
		return fd;
	jf_kept_done(jf_kept_take(&kept_metadata, fd));
	return 0;
}

static int append_metadata(void)
{
	struct jf_used fd = open_metadata();
	int err = fd.fd < 0 ? fd.fd : jf_metadata_append(fd.fd, &jf_live->told);

	jf_kept_done(fd);
	return err;
}

void jf_folder_check_clock(void)
{
	uint64_t now = jf_clock_ns(CLOCK_MONOTONIC);

	if (now - jf_live->checked < jf_live->wait || jf_live->wait > CLOCK_KNOWN * UINT64_C(1000000000))
		return;
	jf_live_lock();
	if (now - jf_live->checked >= jf_live->wait) {
		jf_folder_clock();
		jf_live->checked = now;
		jf_live->wait *= 2;
	}
	jf_live_unlock();
}

/* Release: pairs with those who count there, as in count_no_ring(). */
static void count_at(uint64_t *counter, uint64_t *calls)
{
	__atomic_store_n(&__jf_lost, counter, __ATOMIC_RELEASE);
	__atomic_store_n(&__jf_lost_calls, calls, __ATOMIC_RELEASE);
}

/* Of records without a ring, until the trace begins, and after its end. */
void jf_lost_early(void)
{
	count_at(&jf_live->dropped, &no_calls);
}

/* For a folder. A dot at the begin would hide it from readers. */
static void folder_name(char *name, size_t size)
{
	char *c;

	jf_process_name(name, size);
	for (c = name; *c; c++) {
		if (*c == '/' || (unsigned char)*c < ' ' || (c == name && *c == '.'))
			*c = '_';
	}
}

/*
 * A folder that root has for itself: no other user comes to its files, but by a descriptor. So
 * files that root makes there can be open to others: to the process itself, when it is another
 * user's.
 */
static bool is_closed(int dir)
{
	struct stat st;

	return !geteuid() && !fstat(dir, &st) && !st.st_uid && !(st.st_mode & 077);
}

/* With the lock. In @dir, whose path is @parent. */
static int make_folder_in(int dir, const char *parent)
{
	char process[24], name[64];
	int i, fd, err;

	folder_name(process, sizeof(process));
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%s-%d-%u", process, (int)getpid(),
			 __atomic_add_fetch(&folders, 1, __ATOMIC_RELAXED));
		err = jf_path(jf_live->folder, sizeof(jf_live->folder), parent, name);
		if (err)
			return err;
		if (!mkdirat(dir, name, 0700))
			break;
		if (errno != EEXIST)
			return -errno;
	}
	if (i == 1000)
		return -EEXIST;
	if (is_closed(dir))
		fchmodat(dir, name, 01733, 0);
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (!kept_shared.ino && is_closed(dir) && strlen(jf_live->folder) < sizeof(shared_path)) {
		memcpy(shared_path, jf_live->folder, strlen(jf_live->folder) + 1);
		jf_kept_done(jf_kept_take(&kept_shared, dup(fd)));
	}
	jf_kept_done(jf_kept_take(&kept_folder, fd));
	return 0;
}

/* With the lock. */
static int make_folder(void)
{
	struct jf_used dir = jf_kept_open(&kept_parent, jf_conf.parent);
	int err = dir.fd < 0 ? dir.fd : make_folder_in(dir.fd, jf_conf.parent);

	jf_kept_done(dir);
	if ((err != -EACCES && err != -EPERM && err != -ENOENT) || !kept_shared.ino)
		return err;
	dir = jf_kept_open(&kept_shared, shared_path);
	err = dir.fd < 0 ? dir.fd : make_folder_in(dir.fd, shared_path);
	jf_kept_done(dir);
	return err;
}

/* With the lock. A trace that has come to nothing. */
static void remove_folder(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, jf_live->folder);

	if (dir.fd >= 0)
		unlinkat(dir.fd, "metadata", 0);
	jf_kept_done(dir);
	rmdir(jf_live->folder);
}

/* With the lock. Records without a ring are counted there. */
static int make_no_ring(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, jf_live->folder);
	int err = jf_folder_packet(dir.fd, ".lost", "lost", JF_NO_RING_SIZE, NULL, &jf_live->no_ring, JF_NO_RING);

	jf_kept_done(dir);
	return err;
}

/* With the lock. To jf-trace, if that has started this. */
static void tell_failed(int err)
{
	struct jf_used dir = jf_kept_open(&kept_parent, jf_conf.parent);
	char text[JF_LOADED_SIZE];
	struct stat st;
	int fd;

	fd = dir.fd < 0 ? -1 : openat(dir.fd, JF_LOADED, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	jf_kept_done(dir);
	if (fd < 0)
		return;
	/* Others may have put a pipe there. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		jf_file_write(fd, text, (size_t)snprintf(text, sizeof(text), "%d\n", -err), 1);
	jf_close(fd);
}

/* With the lock. */
int jf_come_alive(void)
{
	int err;

	if (getrandom(jf_live->uuid, sizeof(jf_live->uuid), 0) != sizeof(jf_live->uuid))
		return jf_live->error = -EIO;
	err = make_folder();
	if (!err) {
		err = write_metadata();
		if (!err)
			err = make_no_ring();
		if (err)
			remove_folder();
	}
	jf_live->error = err;
	if (err) {
		tell_failed(err);
		return err;
	}
	count_at(&jf_live->no_ring->discarded, &jf_live->no_ring->calls);
	__atomic_fetch_add(&jf_live->no_ring->discarded, __atomic_exchange_n(&jf_live->dropped, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	no_ring_before = no_ring_mapped;
	no_ring_mapped = jf_live->no_ring;
	jf_live->pid = (int)getpid();
	jf_live->checked = jf_clock_ns(CLOCK_MONOTONIC);
	jf_live->wait = 1000000000;
	/* Pairs with jf_record_folder(). */
	__atomic_store_n(&jf_live->alive, 1, __ATOMIC_RELEASE);
	return 0;
}

/**
 * jf_rings_begin() - make the folder of a trace, if it is not there yet
 *
 * With jf_events_lock, while recording is started.
 *
 * Return: 0, or an error of a system call
 */
int jf_rings_begin(void)
{
	struct jf_before was;
	int err = 0;

	jf_shield(&was);
	jf_live_lock();
	if (!jf_live->alive)
		err = jf_come_alive();
	jf_live_unlock();
	jf_unshield(&was);
	return err;
}

/* Before a recording, as long as there is a way to it. */
void jf_folder_parent(void)
{
	jf_kept_done(jf_kept_open(&kept_parent, jf_conf.parent));
}

/* In a forked child: one that becomes another user has no way to write into its parent's trace. */
void jf_folder_forget(void)
{
	if (no_ring_before)
		munmap(no_ring_before, JF_NO_RING_SIZE);
	no_ring_before = NULL;
	jf_kept_drop(&kept_metadata);
	jf_kept_drop(&kept_folder);
}

/* With the lock, at the end of a recording. No thread counts there any more. */
void jf_folder_leave(void)
{
	jf_kept_drop(&kept_parent);
	jf_kept_drop(&kept_folder);
	jf_kept_drop(&kept_metadata);
	jf_kept_drop(&kept_shared);
	jf_lost_early();
	if (no_ring_mapped)
		munmap(no_ring_mapped, JF_NO_RING_SIZE);
	if (no_ring_before)
		munmap(no_ring_before, JF_NO_RING_SIZE);
	jf_live->no_ring = no_ring_mapped = no_ring_before = NULL;
}

/**
 * jf_rings_metadata() - tell the trace of all events that have a number
 * @told: set to the highest number of which it knows then
 *
 * With jf_events_lock, while recording is started.
 *
 * Return: 0, or the error of a system call; then it can be tried again
 */
int jf_rings_metadata(uint16_t *told)
{
	struct jf_before was;
	int err = 0;

	jf_shield(&was);
	jf_live_lock();
	/* A process that has no trace as yet tells it of all when it begins one. */
	*told = UINT16_MAX;
	if (jf_live->alive) {
		if (jf_live->told.id < jf_last_class())
			err = append_metadata();
		if (err == -EMSGSIZE)
			err = write_metadata();
		*told = jf_live->told.id;
	}
	jf_live_unlock();
	jf_unshield(&was);
	return err;
}

/**
 * jf_rings_refused() - tell the trace of a probe that was to be recorded, and cannot be
 * @group: of it
 * @name:  of it
 * @why:   one line
 *
 * A line that cannot be written there is left out.
 */
void jf_rings_refused(const char *group, const char *name, const char *why)
{
	struct jf_used dir = { -ENOENT, false };
	struct jf_before was;

	if (!jf_live || !jf_conf.started)
		return;
	jf_shield(&was);
	jf_live_lock();
	if (jf_live->alive)
		dir = jf_kept_open(&kept_folder, jf_live->folder);
	if (dir.fd >= 0)
		jf_metadata_refused(dir.fd, group, name, why);
	jf_kept_done(dir);
	jf_live_unlock();
	jf_unshield(&was);
}

int jf_record_folder(char *buf, size_t size)
{
	size_t len;

	/* Acquire: pairs with jf_come_alive(), which sets it after the folder's name. */
	if (!jf_live || !__atomic_load_n(&jf_live->alive, __ATOMIC_ACQUIRE))
		return -ENOENT;
	len = strlen(jf_live->folder);
	if (len + 1 > size)
		return -ENAMETOOLONG;
	memcpy(buf, jf_live->folder, len + 1);
	return (int)len;
}
