/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hall: a dynamic function and a tracepoint that threads of jf_hall.ko enter,
 * and ways to stay inside their targets. jf_visit.ko and jf_visit2.ko put
 * targets and probes there, and are unloaded while a thread is in them.
 */
#ifndef JF_HALL_H
#define JF_HALL_H

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include <jumpfunc/tracepoint.h>

#include "../test_compat.h"

/* Where a thread may be: in the two modules, in the hall's own two targets. */
enum { HALL_VISIT, HALL_VISIT2, HALL_A, HALL_B, HALL_GUESTS };

/* The number that a target adds to its argument. */
#define HALL_VALUE(id)	(1000 * ((id) + 1))

/* How to stay; the argument of each call. */
enum hall_way {
	HALL_PASS,	/* in and out */
	HALL_DALLY,	/* for some microseconds */
	HALL_SPIN,	/* for spin_ms, at work all the time */
	HALL_LOCK,	/* the same, and on the way through a spinlock that another one holds */
	HALL_BUSY,	/* until the gate opens, at work, with cond_resched() */
	HALL_SLEEP,	/* ... in msleep() */
	HALL_INTR,	/* ... in an interruptible sleep */
	HALL_MUTEX,	/* ... in mutex_lock() */
	HALL_FUNC,	/* ... asleep in a function of jf_hall.ko */
	HALL_EXIT,	/* the thread ends in there */
	HALL_WAYS
};

struct hall_guest {
	atomic_t	inside, entered, late;
	/* No call may be inside. */
	bool		dead;
};

/* Shared by all of these modules. */
struct hall {
	struct hall_guest	guest[HALL_GUESTS];
	unsigned int		spin_ms;
	bool			open;
	wait_queue_head_t	gate;
	struct mutex		mutex;
	spinlock_t		lock;
	bool			lock_wanted, lock_held;
	struct completion	ended;
};

extern struct hall hall;

u64 hall_type(u64 way);
DECLARE_DYNFUNC(hall_op, hall_type);
/* Its probes sleep, are preempted, and wait for locks. */
DECLARE_JF_TRACE(hall, JF_PROTO(u64 way, u64 unused), JF_ARGS(way, unused), JF_BARE);

/* Sleeps until the gate opens. */
void hall_wait(void);

/* No thread waits longer than this for the gate: a test that fails has to end. */
#define HALL_LIMIT	(60 * HZ)

static __always_inline void hall_spin(unsigned int ms)
{
	u64 end = ktime_get_ns() + ms * 1000000ULL;

	while (ktime_get_ns() < end)
		cpu_relax();
}

static __always_inline bool hall_shut(unsigned long since)
{
	return !READ_ONCE(hall.open) && time_before(jiffies, since + HALL_LIMIT);
}

/*
 * Be inside. All of it is inlined, so that the thread stays in the text of the
 * caller.
 */
static __always_inline void hall_visit(unsigned int id, u64 way)
{
	struct hall_guest *g = &hall.guest[id];
	unsigned long since = jiffies;

	atomic_inc(&g->inside);
	atomic_inc(&g->entered);
	if (READ_ONCE(g->dead))
		atomic_inc(&g->late);
	switch (way) {
	case HALL_DALLY:
		udelay(30);
		break;
	case HALL_SPIN:
		hall_spin(READ_ONCE(hall.spin_ms));
		break;
	case HALL_LOCK:
		/* First spin, so that a grace period that begins finds the thread running. */
		hall_spin(READ_ONCE(hall.spin_ms) / 4);
		WRITE_ONCE(hall.lock_wanted, true);
		while (!READ_ONCE(hall.lock_held) && time_before(jiffies, since + HALL_LIMIT / 4))
			cpu_relax();
		spin_lock(&hall.lock);
		spin_unlock(&hall.lock);
		hall_spin(READ_ONCE(hall.spin_ms) / 4 * 3);
		break;
	case HALL_BUSY:
		while (hall_shut(since))
			cond_resched();
		break;
	case HALL_SLEEP:
		while (hall_shut(since))
			msleep(20);
		break;
	case HALL_INTR:
		wait_event_interruptible_timeout(hall.gate, READ_ONCE(hall.open), HALL_LIMIT);
		break;
	case HALL_MUTEX:
		mutex_lock(&hall.mutex);
		mutex_unlock(&hall.mutex);
		break;
	case HALL_FUNC:
		hall_wait();
		break;
	case HALL_EXIT:
		atomic_dec(&g->inside);
		test_thread_exit(&hall.ended);
	}
	atomic_dec(&g->inside);
}

#endif /* JF_HALL_H */
