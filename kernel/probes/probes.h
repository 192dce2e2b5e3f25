/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file `probes` of debugfs: all that can be enabled by a name of four parts,
 * provider:module:function:name, and how. Every provider has a source here.
 *
 *   trace	tracepoints: enabled, they count (places.c)
 *   ftrace	entries of functions of modules that know nothing of jumpfunc (entry.c)
 *   others	calls of functions that do not exist, which are dynamic functions called
 *		provider:name: enabled, they lead to their first target (places.c)
 */
#ifndef JF_PROBES_ROOM_H
#define JF_PROBES_ROOM_H

#include <linux/types.h>

struct jf_names;
struct jf_pattern;
struct list_head;
struct module;
struct seq_file;

/* kernel/main.c: after jf_module_init(). */
int jf_probe_file_init(void);
/* After jf_debugfs_init(). */
void jf_probe_file_add(void);
/* Before jf_debugfs_exit(). */
void jf_probe_file_remove(void);
/* Without files. When it has returned, ftrace calls nothing here any more. */
void jf_probe_file_exit(void);
/* After jf_module_exit(), which waits until no task is in a probe. */
void jf_probe_file_free(void);

/* places.c: takes the mutex of probes, and not for long. -ENOMEM */
int jf_places_show(struct seq_file *m);

/* --- all that follows: with the mutex of probes held ------------------------ */

/* places.c: the places in the tables of modules. */

/* Finds which changes @p asks for. *@num: so much fits. -errno, with the log told. */
int jf_places_find(const struct jf_pattern *p, struct jf_names *names,
		   struct list_head *changes, unsigned int *num);
/* The probes that were found and have to be registered or unregistered. -ENOMEM */
int jf_places_probes(struct list_head *probes);
/* It was committed, or not: forget the request. */
void jf_places_done(bool committed);
/* A module has tables, and it is loaded: find its tracepoints. */
void jf_places_load(const struct module *mod);
/* No task is in that module any more. NULL: any module. */
void jf_places_unload(const struct module *mod);

/* entry.c: functions that ftrace enters. */

/* True if the pattern is for this provider. */
bool jf_entry_is(const struct jf_pattern *p);
int jf_entry_find(const struct jf_pattern *p, unsigned int *num);
/* Begin to trace the found places. On error nothing has changed, and the log was told. */
int jf_entry_begin(void);
/* It was committed, or not: end to trace the others. It can wait. */
void jf_entry_done(bool committed);
void jf_entry_show(struct seq_file *m);
/* That module is unloaded. NULL: any module. */
void jf_entry_unload(const struct module *mod);
/* jumpfunc is. It does not return if ftrace may still call it. */
void jf_entry_exit(void);

#endif /* JF_PROBES_ROOM_H */
