/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files in /sys/kernel/debug/jumpfunc, for rooms and modules that have files
 * there, and the files that are in /sys/kernel/jumpfunc as well.
 *
 * A write is one command: one write() of up to 4095 bytes at offset 0, without
 * NUL bytes. An open file keeps the module that owns it loaded.
 */
#ifndef JF_DEBUGFS_H
#define JF_DEBUGFS_H

#include <linux/list.h>
#include <linux/types.h>

struct module;
struct seq_file;

/**
 * struct jf_file - one file of the directory
 * @name:  its name
 * @show:  prints it; 0 or -errno, which the reader gets
 * @store: takes a command, NUL-terminated, without the final newline, which it
 *         may change; NULL: read-only. Returns 0 or -errno
 * @id:    for files that differ by a number
 * @knob:  prints what /sys/kernel/jumpfunc shows of it, one value; NULL: no
 *         such file is there. Only for files whose commands choose among the offers of modules, see
 *         kernel/debugfs/sysfs.c
 * @blind: such a file is there, which can be written, and shows nothing
 * @usage: the syntax, for the message about a wrong command; NULL: @store says so itself
 * @help:  its lines of the file help, or NULL
 */
struct jf_file {
	const char	*name;
	int		(*show)(struct seq_file *m, const struct jf_file *f);
	int		(*store)(char *cmd, const struct jf_file *f);
	int		(*knob)(struct seq_file *m, const struct jf_file *f);
	bool		blind;
	unsigned int	id;
	const char	*usage;
	const char	*help;
};

/**
 * struct jf_files - the files of one room
 * @file: they
 * @num:  how many there are
 * @owner: the module with their functions
 * @show_stats: prints lines for the file stats, or NULL
 * @list: for jf_debugfs.c
 */
struct jf_files {
	const struct jf_file	*file;
	unsigned int		num;
	struct module		*owner;
	void			(*show_stats)(struct seq_file *m);
	struct list_head	list;
};

/*
 * May sleep. 0, or the first error: then that file is missing, and the room must be
 * removed all the same. The engine works without any.
 */
int jf_debugfs_add(struct jf_files *room);
/* When it has returned, no task is in one of their functions. */
void jf_debugfs_remove(struct jf_files *room);

/* Longest command that a file takes. */
#define JF_WRITE_MAX	4095

/* kernel/debugfs/command.c: takes a write to a file. 0 or -errno. */
int jf_file_command(const struct jf_file *f, char *cmd, size_t len);

/* kernel/debugfs/sysfs.c, for jf_debugfs.c */
void jf_knobs_init(void);
void jf_knobs_exit(void);
void jf_knobs_add(const struct jf_files *room);
void jf_knobs_remove(const struct jf_files *room);

/* kernel/main.c */
void jf_debugfs_init(void);
void jf_debugfs_exit(void);

#endif /* JF_DEBUGFS_H */
