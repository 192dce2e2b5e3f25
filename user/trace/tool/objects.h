/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The ELF objects that a process has mapped, and where their functions are.
 *
 * Their files are read, and must be the mapped ones. Of a file that was replaced since, as by an
 * upgrade, /proc/PID/map_files has the mapped one, which root alone may read.
 *
 * API:
 *   objects_read(), objects_free()	all of a process, or one of them
 *   objects_named()			by the name of its file
 *   object_function()			where a function is that others can call
 */
#ifndef JF_OBJECTS_H
#define JF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct function - that an object has for others
 * @at:   its first byte, in the process
 * @end:  the byte after its last one
 * @name: of it
 */
struct function {
	uint64_t	at;
	uint64_t	end;
	const char	*name;
};

/**
 * struct object - a mapped file
 * @path:     of it
 * @low:      its first mapping
 * @text:     its first mapping that can be executed
 * @text_end: the end of the last one
 * @function: ascending by address; NULL: it was not read
 * @num:      how many
 * @names:    of functions
 * @program:  it is no shared object
 */
struct object {
	char		*path;
	uint64_t	low;
	uint64_t	text;
	uint64_t	text_end;
	struct function	*function;
	size_t		num;
	char		*names;
	bool		program;
};

/**
 * struct objects - of a process
 * @object: each of them
 * @num:    how many
 */
struct objects {
	struct object	*object;
	size_t		num;
};

/* @begin: of the file's name; of others no functions are read; NULL: of all. 0 or -errno. */
int objects_read(struct objects *o, pid_t pid, const char *begin);
void objects_free(struct objects *o);
/* The first one whose file has a name that begins so. */
const struct object *objects_named(const struct objects *o, const char *begin);
/* 0: it does not exist. */
uint64_t object_function(const struct object *o, const char *name);
/* The name of the file, without the folder. */
const char *object_name(const struct object *o);

#endif /* JF_OBJECTS_H */
