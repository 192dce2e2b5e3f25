// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A week in a minute: recording is started and stopped, patterns are switched, a plugin comes and
 * goes, threads and children come and go, again and again. Nothing may be left of a round: no
 * mapping, no descriptor, no memory, no file. Then the plugin comes again and again in one
 * recording: each call is there, and its events keep their numbers (there are fewer than 70000).
 * usage: week PLUGIN [ROUNDS [RELOADS]], or week -r PLUGIN RELOADS to be traced
 */
#include "common.h"
#include "user/test/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

static const char *plugin;

/**
 * struct left - the state between two rounds
 * @mappings:    of this process
 * @descriptors: that are open
 * @files:       in the folder of traces
 * @bytes:       that are allocated
 */
struct left {
	unsigned int	mappings;
	unsigned int	descriptors;
	unsigned int	files;
	size_t		bytes;
};

static struct left look(void)
{
	return (struct left){ count_mappings(), test_entries("/proc/self/fd"), test_entries(test_parent), allocated() };
}

static void call_plugin(int num)
{
	void *h = dlopen(plugin, RTLD_NOW);
	void (*records)(int num);

	if (!h) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	*(void **)(&records) = dlsym(h, "plugin_records");
	records(num);
	dlclose(h);
}

static void *in_thread(void *arg)
{
	(void)arg;
	call_plugin(3);
	return NULL;
}

static void start(char *folder, size_t size)
{
	struct jf_record_options o = { test_parent, JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_AUTO, 65536, 8, 0, 0 };

	must(jf_record_start(&o), "jf_record_start");
	must(jf_record_folder(folder, size) < 0 ? -EINVAL : 0, "jf_record_folder");
}

static void one_round(int nr)
{
	char folder[4096], glob[32];
	int status = 0;
	pthread_t t;
	pid_t pid;

	start(folder, sizeof(folder));
	CHECK(jf_record_enable("jftest:small") == 0, "jf_record_enable");
	snprintf(glob, sizeof(glob), "week%d:*", nr);
	CHECK(jf_record_enable(glob) == 0, "%s", glob);
	call_plugin(5);
	must(-pthread_create(&t, NULL, in_thread, NULL), "pthread_create");
	pthread_join(t, NULL);
	if (nr % 16 == 0) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			call_plugin(1);
			jf_record_folder(folder, sizeof(folder));
			strict_remove(folder);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && !status, "a child ended with %x", status);
	}
	CHECK(jf_record_disable("jftest:small") == 0, "jf_record_disable");
	must(jf_record_stop(), "jf_record_stop");
	strict_remove(folder);
}

static void test_rounds(int rounds)
{
	struct left before = { 0, 0, 0, 0 }, after;
	int i;

	for (i = 0; i < rounds; i++) {
		one_round(i);
		if (i == rounds / 10)
			before = look();
	}
	after = look();
	CHECK(after.mappings <= before.mappings, "%u mappings became %u", before.mappings, after.mappings);
	CHECK(after.descriptors == before.descriptors, "%u descriptors became %u", before.descriptors, after.descriptors);
	CHECK(after.files == before.files, "%u files became %u", before.files, after.files);
	CHECK(after.bytes <= before.bytes + 4096, "%zu bytes became %zu", before.bytes, after.bytes);
	finish("nothing is left of a round");
}

static void test_reloads(int reloads)
{
	struct left before = { 0, 0, 0, 0 }, after;
	struct jf_record_counts c;
	char folder[4096], path[4200];
	off_t metadata = 0;
	struct stat st;
	int i;

	start(folder, sizeof(folder));
	CHECK(jf_record_enable("jftest:small") == 0, "jf_record_enable");
	snprintf(path, sizeof(path), "%s/metadata", folder);
	for (i = 0; i < reloads; i++) {
		call_plugin(1);
		if (i != reloads / 10)
			continue;
		before = look();
		metadata = stat(path, &st) ? -1 : st.st_size;
	}
	after = look();
	jf_record_stats(&c);
	CHECK(c.records + c.overwritten == (uint64_t)reloads && !c.discarded, "%llu of %d calls",
	      (unsigned long long)(c.records + c.overwritten), reloads);
	CHECK(!stat(path, &st) && st.st_size == metadata, "metadata of %lld bytes became %lld", (long long)metadata,
	      (long long)st.st_size);
	/* The ring grows up to eight packets. */
	CHECK(after.mappings <= before.mappings + 8 && after.descriptors == before.descriptors && after.bytes <= before.bytes + 4096,
	      "%u mappings, %zu bytes became %u, %zu", before.mappings, before.bytes, after.mappings, after.bytes);
	must(jf_record_stop(), "jf_record_stop");
	strict_remove(folder);
	finish("a plugin that is loaded again and again has each call recorded");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1000, reloads = argc > 3 ? atoi(argv[3]) : 6000;

	if (argc == 4 && !strcmp(argv[1], "-r")) {
		plugin = argv[2];
		while (reloads--)
			call_plugin(1);
		return 0;
	}
	printf("TAP version 13\n");
	if (argc < 2) {
		printf("Bail out! usage: week PLUGIN [ROUNDS [RELOADS]]\n");
		return 1;
	}
	plugin = argv[1];
	test_parent_make();
	test_rounds(rounds);
	test_reloads(reloads);
	test_parent_remove();
	return tap_end();
}
