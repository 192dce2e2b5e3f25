// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A compiler's command, and which object files it writes: jf-sdt --run cc -c a.c -o a.o
 *
 * Other commands than compilations to object files are run as they are. One of which their names
 * are not known is refused.
 */
#define _GNU_SOURCE
#include "jf_sdt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), more = strlen(end);

	return len > more && !strcmp(s + len - more, end);
}

/* Lists end with NULL. */
static bool ends_with_one(const char *arg, const char *const *ends)
{
	for (; *ends; ends++)
		if (ends_with(arg, *ends))
			return true;
	return false;
}

static bool is_one(const char *arg, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(arg, *words))
			return true;
	return false;
}

static bool is_source(const char *arg)
{
	static const char *const ends[] = {
		".c", ".i", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".ii", ".s", ".S", ".sx", NULL,
	};

	return *arg != '-' && ends_with_one(arg, ends);
}

/* The compiler makes a precompiled header of it, which is no object file. */
static bool is_header(const char *arg)
{
	static const char *const ends[] = { ".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", NULL };

	return ends_with_one(arg, ends);
}

/* In the present folder, with another ending. */
static char *object_of(const char *source)
{
	const char *name = strrchr(source, '/');
	size_t len;
	char *object;

	name = name ? name + 1 : source;
	len = (size_t)(strrchr(name, '.') - name);
	object = malloc(len + 3);
	if (object) {
		memcpy(object, name, len);
		strcpy(object + len, ".o");
	}
	return object;
}

/* --- arguments, and those in a file: @file ------------------------------------------------ */

/* Files may name each other, and themselves. */
#define FILES_MAX	2000

struct args {
	char		**arg;
	size_t		num;
	unsigned int	files;
};

static bool add(struct args *all, const char *arg)
{
	char **more = realloc(all->arg, (all->num + 1) * sizeof(*more));

	if (!more)
		return false;
	all->arg = more;
	more[all->num] = strdup(arg);
	return more[all->num++];
}

/*
 * The next argument at @*at, which it is copied over: between white space, in quotation marks of
 * either kind or not; a backslash takes the meaning from the character after it. NULL: not found.
 */
static char *next_arg(char **at)
{
	char *from = *at + strspn(*at, " \t\n\v\f\r"), *to = from, *arg = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\n\v\f\r", *from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? 0 : *from;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = 0;
	return arg;
}

/*
 * NULL: it cannot be read, or, in *@err, it must not be. A FIFO, which the compiler would find
 * empty then, is not waited for.
 */
static char *content_of(const char *path, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *text = NULL;
	size_t size = 0;
	struct stat st;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		fprintf(stderr, "jf-sdt: @%s: is no file\n", path);
		*err = -EINVAL;
	} else if (getdelim(&text, &size, 0, file) < 0) {
		/* All of it, else: no file of arguments has a NUL byte. */
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* As compilers do it, a file that cannot be read is an argument as it stands. */
static int expand(struct args *all, const char *arg)
{
	char *text = NULL, *at, *next;
	int err = 0;

	if (*arg == '@' && all->files++ < FILES_MAX)
		text = content_of(arg + 1, &err);
	if (!text)
		return err ? err : add(all, arg) ? 0 : -ENOMEM;
	at = text;
	while (!err && (next = next_arg(&at)) != NULL)
		err = expand(all, next);
	free(text);
	return err;
}

/* --- output files ------------------------------------------------------------------------- */

/* The next argument belongs to this one. */
static bool takes_next(const char *arg)
{
	static const char *const options[] = {
		"-I", "-D", "-U", "-L", "-T", "-u", "-z", "-e", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
		"-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultilib", "-MF", "-MT", "-MQ", "-MJ", "-aux-info", "-dumpdir",
		"-dumpbase", "-dumpbase-ext", "-wrapper", "-specs", "-arch", "-target", "-mllvm", "-Xclang", "-Xassembler",
		"-Xpreprocessor", "-Xlinker", "-Xarch_host", "--param", "--sysroot", "--include", "--include-directory", "--define-macro",
		"--undefine-macro", NULL,
	};

	return is_one(arg, options);
}

/* It compiles nothing, or not to an object file. */
static bool ends_early(const char *arg)
{
	static const char *const options[] = {
		"-S", "-E", "-M", "-MM", "-fsyntax-only", "--assemble", "--preprocess", "--dependencies", "--user-dependencies", NULL,
	};

	return is_one(arg, options);
}

void run_free(char **objects)
{
	size_t i;

	for (i = 0; objects && objects[i]; i++)
		free(objects[i]);
	free(objects);
}

/**
 * struct command - the command of a compiler
 * @compiles: to object files
 * @early:    it ends before there is one
 * @to:       the object file; NULL: each has its source's name
 * @strange:  an argument whose object file is unknown
 * @objects:  those of the sources, and a NULL
 * @num:      how many
 */
struct command {
	bool		compiles;
	bool		early;
	const char	*to;
	const char	*strange;
	char		**objects;
	size_t		num;
};

static int add_object(struct command *c, char *object)
{
	char **more = object ? realloc(c->objects, (c->num + 2) * sizeof(*more)) : NULL;

	if (!more) {
		free(object);
		return -ENOMEM;
	}
	c->objects = more;
	more[c->num++] = object;
	more[c->num] = NULL;
	return 0;
}

/*
 * True if a compiler can take it for a source, without the endings that are known. Input of a
 * linker is not compiled, and a compiler that another program is to run (ccache gcc -c a.c) can be
 * executed.
 */
static bool may_be_source(const char *arg)
{
	static const char *const linked[] = { ".o", ".a", ".so", NULL };
	struct stat st;

	if (ends_with_one(arg, linked) || strstr(arg, ".so."))
		return false;
	return !stat(arg, &st) && S_ISREG(st.st_mode) && !(st.st_mode & 0111);
}

static int read_command(struct command *c, const struct args *all)
{
	int err = 0;
	size_t i;

	for (i = 0; !err && i < all->num; i++) {
		const char *arg = all->arg[i];

		if (!strcmp(arg, "-c") || !strcmp(arg, "--compile"))
			c->compiles = true;
		else if (ends_early(arg))
			c->early = true;
		else if ((!strcmp(arg, "-o") || !strcmp(arg, "--output")) && i + 1 < all->num)
			c->to = all->arg[++i];
		else if (!strncmp(arg, "--output=", 9) && arg[9])
			c->to = arg + 9;
		else if (!strncmp(arg, "-o", 2) && arg[2] && strncmp(arg, "-objc", 5) && strncmp(arg, "-object", 7))
			c->to = arg + 2;
		else if (!strncmp(arg, "-x", 2) || !strncmp(arg, "--language", 10) || !strcmp(arg, "-"))
			c->strange = arg;
		else if (takes_next(arg))
			i++;
		else if (is_source(arg))
			err = add_object(c, object_of(arg));
		else if (*arg != '-' && !is_header(arg) && may_be_source(arg))
			c->strange = arg;
	}
	return err;
}

static int objects_of(struct command *c)
{
	int err = 0;

	if (!c->compiles || c->early || c->to) {
		run_free(c->objects);
		c->objects = NULL;
		c->num = 0;
		if (c->compiles && !c->early)
			err = add_object(c, strdup(c->to));
	} else if (c->strange) {
		fprintf(stderr, "jf-sdt: '%s': it is not known which object file the compiler makes of that: give -o\n", c->strange);
		err = -EINVAL;
	}
	return err;
}

int run_objects(char *const *command, char ***objects)
{
	struct command c = { 0 };
	struct args all = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	for (i = 1; !err && command[i]; i++)
		err = expand(&all, command[i]);
	if (!err)
		err = read_command(&c, &all);
	if (!err)
		err = objects_of(&c);
	for (i = 0; i < all.num; i++)
		free(all.arg[i]);
	free(all.arg);
	if (err) {
		run_free(c.objects);
		c.objects = NULL;
	}
	*objects = c.objects;
	return err;
}

int run_command(char *const *command)
{
	/* Some daemons have their children ignore it: the kernel then forgets how these end. */
	void (*was)(int) = signal(SIGCHLD, SIG_DFL);
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGCHLD, was);
		execvp(command[0], command);
		fprintf(stderr, "jf-sdt: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			pid = -1;
	if (pid < 0) {
		fprintf(stderr, "jf-sdt: %s: %s\n", command[0], strerror(errno));
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
