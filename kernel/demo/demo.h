/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The demo: four dynamic functions, and the event set, which is a set of kernel
 * tracepoints with subscribers. It uses the engine as other modules do, and has
 * files of its own in debugfs.
 */
#ifndef JF_DEMO_H
#define JF_DEMO_H

struct seq_file;

/* kernel/demo/files.c, for kernel/main.c */
int jf_demo_init(void);
/* When nothing can fail any more: an open file does not keep a module whose init fails. */
void jf_demo_add_files(void);
void jf_demo_exit(void);

/* kernel/demo/funcs.c: the dynamic functions func0 to func3 */
#define JF_DEMO_FUNCS	4
#define JF_DEMO_TARGETS	3
int jf_demo_set(unsigned int func, unsigned int target);
void jf_demo_call(unsigned int func, struct seq_file *m);

/* kernel/demo/event_set.c: the event set, kernel tracepoints with subscribers */
#define JF_SUBSCRIBERS_MAX	16
int jf_events_init(void);
void jf_events_exit(void);
int jf_events_set_mode(const char *name);
int jf_events_set_subscribers(unsigned int num);
unsigned int jf_events_subscribers(void);
void jf_events_show_modes(struct seq_file *m);
void jf_events_show_events(struct seq_file *m);
int jf_events_show_ring(struct seq_file *m);
void jf_events_show_stats(struct seq_file *m);

#endif /* JF_DEMO_H */
