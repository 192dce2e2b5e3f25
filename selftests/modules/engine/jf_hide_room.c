// SPDX-License-Identifier: GPL-2.0
/* Takes half of the static per-CPU memory that all modules share. */
#include <linux/module.h>
#include <linux/percpu.h>

static DEFINE_PER_CPU(char[4400], hide_percpu);

static int __init hide_room_init(void)
{
	(*raw_cpu_ptr(&hide_percpu))[0] = 1;
	return 0;
}

static void __exit hide_room_exit(void)
{
}

module_init(hide_room_init);
module_exit(hide_room_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Takes half of the static per-CPU memory of modules");
