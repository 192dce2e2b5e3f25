// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Files, options and messages of jf-sdt. */
#define _GNU_SOURCE
#include "jf_sdt.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFUSED = 1, USAGE = 2 };

/* What is done. */
enum action { CHANGE, LIST, VERIFY, UNDO, RUN };

/**
 * struct file - a file
 * @name: as it was given
 * @path: where it is, if @name is a link
 * @data: its content
 * @size: of it
 * @st:   of it
 * @new:  its new content
 * @temp: where that is until it takes the file's place
 * @old:  another name of the file as it was, until all files are in place
 */
struct file {
	const char	*name;
	char		*path;
	uint8_t		*data;
	size_t		size;
	struct stat	st;
	struct changed	new;
	char		*temp;
	char		*old;
};

static void file_free(struct file *f)
{
	free(f->path);
	free(f->data);
	free(f->new.data);
	free(f->new.err);
	free(f->temp);
	free(f->old);
}

static int say(const struct file *f, const char *what)
{
	fprintf(stderr, "jf-sdt: %s: %s\n", f->name, what);
	return REFUSED;
}

static int read_all(struct file *f, int fd)
{
	size_t room = 0;

	for (;;) {
		ssize_t num;

		/* It may grow where it is. */
		if (f->size == room) {
			uint8_t *more = realloc(f->data, room + room + 65536);

			if (!more)
				return say(f, "no memory");
			room += room + 65536;
			f->data = more;
		}
		num = read(fd, f->data + f->size, room - f->size);
		if (num < 0 && errno != EINTR)
			return say(f, strerror(errno));
		if (!num)
			return 0;
		if (num > 0)
			f->size += (size_t)num;
	}
}

static int read_file(struct file *f)
{
	int fd, err;

	f->path = realpath(f->name, NULL);
	fd = f->path ? open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0 || fstat(fd, &f->st))
		err = say(f, strerror(errno));
	else if (!S_ISREG(f->st.st_mode))
		err = say(f, "is no file");
	else
		err = read_all(f, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * As the file is. It may be another user's, and yet in a folder where it can be replaced: then it
 * cannot be given to that user, and must not be executed as if it were.
 */
static int give(const struct file *f, int fd)
{
	mode_t mode = f->st.st_mode & 07777;

	if (fchown(fd, f->st.st_uid, f->st.st_gid))
		mode &= 01777;
	return fchmod(fd, mode) ? say(f, strerror(errno)) : 0;
}

/*
 * Another file beside it, so that it can take its place at once, with these bytes. Its name is
 * short: the file's own may be as long as names can be.
 */
static int write_beside(struct file *f, char **name, const uint8_t *data, size_t size)
{
	size_t done = 0;
	int fd, err = 0;

	/* A path as realpath() gives it. */
	if (asprintf(name, "%.*s/.jf-sdt.XXXXXX", (int)(strrchr(f->path, '/') - f->path), f->path) < 0) {
		*name = NULL;
		return say(f, "no memory");
	}
	fd = mkstemp(*name);
	if (fd < 0) {
		err = say(f, strerror(errno));
		free(*name);
		*name = NULL;
		return err;
	}
	while (!err && done < size) {
		ssize_t num = write(fd, data + done, size - done);

		if (num > 0)
			done += (size_t)num;
		else if (!num || errno != EINTR)
			err = say(f, num ? strerror(errno) : "cannot be written");
	}
	if (!err)
		err = give(f, fd);
	if (close(fd) && !err)
		err = say(f, strerror(errno));
	return err;
}

/* A second name for the file; where there are no such, a copy. */
static int keep_old(struct file *f)
{
	int err = write_beside(f, &f->old, f->data, f->size);

	if (err || unlink(f->old) || !link(f->path, f->old))
		return err;
	free(f->old);
	return write_beside(f, &f->old, f->data, f->size);
}

/* From @from, one of the two names above, which does not exist then. */
static int put_in_place(struct file *f, char **from)
{
	int err = rename(*from, f->path) ? say(f, strerror(errno)) : 0;

	if (!err) {
		free(*from);
		*from = NULL;
	}
	return err;
}

/* The files before @end were put in place, and the next one could not. */
static void put_back(struct file *files, int end)
{
	while (end--)
		if (files[end].new.data && put_in_place(&files[end], &files[end].old))
			say(&files[end], "has its new content all the same");
}

/* All of them, or none: steps that can fail are done before the first one is changed, or undone. */
static int replace_all(struct file *files, int num)
{
	int i, err = 0;

	for (i = 0; i < num && !err; i++) {
		if (!files[i].new.data)
			continue;
		err = write_beside(&files[i], &files[i].temp, files[i].new.data, files[i].new.size);
		/* The last one needs none, and mostly there is just one. */
		if (!err && i < num - 1)
			err = keep_old(&files[i]);
	}
	for (i = 0; i < num && !err; i++) {
		if (files[i].new.data)
			err = put_in_place(&files[i], &files[i].temp);
		if (err)
			put_back(files, i);
	}
	for (i = 0; i < num; i++) {
		if (files[i].temp)
			unlink(files[i].temp);
		if (files[i].old)
			unlink(files[i].old);
	}
	return err;
}

/*
 * A signal that would end it in the midst ends it when all is done. A file that gets too large is
 * an error like others.
 */
static int write_all(struct file *files, int num)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigset_t all, mask;
	int err;

	sigfillset(&all);
	/* One that is blocked is kept, although it is ignored. */
	sigdelset(&all, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &all, &mask);
	sigaction(SIGXFSZ, &ignore, &before);
	err = replace_all(files, num);
	sigaction(SIGXFSZ, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

static void show(const struct object *o, const struct probe *p, const struct site *s, void *arg)
{
	static const char *const forms[] = { "call", "tail", "test" };
	uint64_t from;
	const char *function = function_at(o, s->sec, s->at, &from);

	(void)arg;
	printf("%s:%s\t%s+%#llx\t%s\t%s\n", p->provider, p->name, function, (unsigned long long)(s->at - from),
	       forms[s->form], o->file);
}

static int do_one(struct file *f, enum action action, const struct options *options)
{
	char *err = NULL;

	switch (action) {
	case LIST:
		err = change_list(f->name, f->data, f->size, options, show, NULL);
		break;
	case VERIFY:
		f->new = change_verify(f->name, f->data, f->size);
		break;
	case UNDO:
		f->new = change_back(f->name, f->data, f->size);
		break;
	case CHANGE:
	case RUN:
		f->new = change(f->name, f->data, f->size, options);
		break;
	}
	if (!err)
		err = f->new.err;
	if (!err)
		return 0;
	say(f, err);
	if (err != f->new.err)
		free(err);
	return REFUSED;
}

/* @status, or REFUSED if not all of the output could be written. */
static int written(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "jf-sdt: the output cannot be written: %s\n", errno ? strerror(errno) : "is its disk full?");
	return REFUSED;
}

static int do_all(struct file *files, int num, enum action action, const struct options *options)
{
	int i, err = 0;

	for (i = 0; i < num; i++) {
		int bad = read_file(&files[i]);

		if (!bad)
			bad = do_one(&files[i], action, options);
		err |= bad;
	}
	if (!err && (action == CHANGE || action == UNDO))
		err = write_all(files, num);
	return written(err);
}

/*
 * True if it is for us. A compiler also writes headers that are compiled before, and a test of a
 * compiler's options has /dev/null: such are left alone, and above all not removed.
 */
static bool is_object(const char *path)
{
	static const char bitcode[] = { 'B', 'C', (char)0xc0, (char)0xde };
	FILE *file = NULL;
	struct stat st;
	char magic[4];
	bool is;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		file = fopen(path, "re");
	is = file && fread(magic, sizeof(magic), 1, file) == 1 &&
	     (!memcmp(magic, ELFMAG, SELFMAG) || !memcmp(magic, bitcode, sizeof(bitcode)));
	if (file)
		fclose(file);
	return is;
}

/* One that is refused does not stay, or it would be linked next time. */
static int change_or_remove(struct file *files, size_t num, const struct options *options)
{
	int rc = do_all(files, num, CHANGE, options);
	size_t i;

	for (i = 0; i < num; i++) {
		/* In a folder that cannot be written the file may be one that can. */
		if (rc && unlink(files[i].name) && truncate(files[i].name, 0))
			say(&files[i], "is still there, and cannot be removed");
		file_free(&files[i]);
	}
	return rc;
}

/* A compiler's command, and then its object files. */
static int do_run(char **command, const struct options *options)
{
	struct file *files = NULL;
	char **objects;
	size_t num, i;
	bool missing;
	int rc;

	/* Before it runs, so that nothing is left that was not changed. */
	rc = run_objects(command, &objects);
	for (num = 0; objects && objects[num]; num++)
		;
	if (!rc && num && !(files = calloc(num, sizeof(*files))))
		rc = -ENOMEM;
	if (rc == -ENOMEM)
		fprintf(stderr, "jf-sdt: no memory\n");
	if (rc) {
		run_free(objects);
		return REFUSED;
	}
	rc = run_command(command);
	missing = false;
	for (num = i = 0; !rc && objects && objects[i]; i++) {
		if (is_object(objects[i])) {
			files[num++].name = objects[i];
		} else if (access(objects[i], F_OK)) {
			fprintf(stderr, "jf-sdt: %s: was expected of that command, and is not there: what it has written is not changed\n",
				objects[i]);
			missing = true;
		}
	}
	if (num)
		rc = change_or_remove(files, num, options);
	if (missing && !rc)
		rc = REFUSED;
	free(files);
	run_free(objects);
	return rc;
}

static int usage(void)
{
	printf(
		"usage: jf-sdt [OPTION...] FILE.o...\n"
		"       jf-sdt [OPTION...] --run COMPILER ARGUMENT...\n"
		"Makes probes of calls of functions that do not exist: nops, which libjumpfunc patches.\n"
		"All files are changed, or none.\n"
		"\n"
		"  -l, --list            show the calls: probe, function and offset, form, file\n"
		"  -c, --verify          is each file what jf-sdt makes of its original?\n"
		"  -u, --undo            give each file its original content again\n"
		"  -p, --prefix PREFIX   how names of probe functions begin (" DEFAULT_PREFIX ")\n"
		"  -P, --provider NAME   of probes whose names have none (" DEFAULT_PROVIDER ")\n"
		"  -r, --run             run a compiler, and change the object files that it has made\n"
		"  -h, --help            this text\n"
		"  -V, --version         the version\n"
		"\n"
		"Exit status: 0, 1 if a file was refused, 2 for a wrong command line; with --run also the compiler's.\n");
	return 0;
}

static int wrong(const char *what, const char *word)
{
	fprintf(stderr, "jf-sdt: %s%s: jf-sdt FILE.o..., or --help\n", what, word);
	return USAGE;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "verify", no_argument, NULL, 'c' },
		{ "undo", no_argument, NULL, 'u' },
		{ "run", no_argument, NULL, 'r' },
		{ "prefix", required_argument, NULL, 'p' },
		{ "provider", required_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .prefix = DEFAULT_PREFIX, .provider = DEFAULT_PROVIDER };
	enum action action = CHANGE;
	struct file *files;
	int c, i, rc;

	while ((c = getopt_long(argc, argv, "+:lcurp:P:hV", longs, NULL)) != -1)
		switch (c) {
		case 'l':
			action = LIST;
			break;
		case 'c':
			action = VERIFY;
			break;
		case 'u':
			action = UNDO;
			break;
		case 'r':
			action = RUN;
			break;
		case 'p':
			options.prefix = optarg;
			break;
		case 'P':
			options.provider = optarg;
			break;
		case 'h':
			return usage(), written(0);
		case 'V':
			printf("jf-sdt %s\n", JF_VERSION);
			return written(0);
		case ':':
			return wrong("a value is missing after ", argv[optind - 1]);
		default:
			return wrong("there is no option ", argv[optind - 1]);
		}
	if (optind == argc)
		return wrong("no file given", action == RUN ? ", nor a compiler to run" : "");
	if (strlen(options.prefix) < 2)
		return wrong("a prefix has two characters or more", "");
	if (action == RUN)
		return do_run(argv + optind, &options);
	files = calloc((size_t)(argc - optind), sizeof(*files));
	if (!files)
		return REFUSED;
	for (i = optind; i < argc; i++)
		files[i - optind].name = argv[i];
	rc = do_all(files, argc - optind, action, &options);
	for (i = 0; i < argc - optind; i++)
		file_free(&files[i]);
	free(files);
	return rc;
}
