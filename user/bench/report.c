// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The results: a table, a CSV, and whether the goals are met. */
#include "bench.h"

#include <stdarg.h>
#include <sys/utsname.h>

#include <jumpfunc/stats.h>

static const char *const layout_names[] = { "64", "1K", "hot" };

static FILE *csv;

/* Returns 0 or a negative error number. No path is no file. */
int report_open(const char *path)
{
	csv = path ? fopen(path, "w") : NULL;
	return path && !csv ? -errno : 0;
}

int report_close(void)
{
	return csv && fclose(csv) ? -errno : 0;
}

/* The first line of a file that starts with @key, without it; "unknown" else. */
static const char *first_line(const char *path, const char *key)
{
	static char line[512];
	FILE *f = fopen(path, "r");
	const char *found = NULL;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, strlen(key)))
			continue;
		found = line;
		if (*key && (found = strchr(line, ':')))
			found += 2;
	}
	if (f)
		fclose(f);
	return found ? found : "unknown";
}

static void say(const char *what, const char *value)
{
	printf("%-12s %s\n", what, value);
	if (csv)
		fprintf(csv, "# %s: %s\n", what, value);
}

static void print_machine(unsigned int rounds)
{
	struct utsname uts;
	char buf[256];
	const char *model, *flags;
	struct jf_stats stats;
	double load[2];

	model = first_line("/proc/cpuinfo", "model name");
	say("CPU", model);
	/* Binary translation tells of the translator, not of the CPU. */
	if (strstr(model, "QEMU") || strstr(model, "TCG"))
		say("EMULATED", "these are an emulator's times, not those of a CPU");
	flags = first_line("/proc/cpuinfo", "flags");
	snprintf(buf, sizeof(buf), "%d%s", stress_cores(),
		 strstr(flags, " hypervisor") ? ", in a virtual machine" : "");
	say("cores", buf);
	if (sscanf(first_line("/proc/loadavg", ""), "%lf %lf", &load[0], &load[1]) == 2)
		snprintf(buf, sizeof(buf), "%.1f in the last minute, %.1f in the last five", load[0], load[1]);
	else
		snprintf(buf, sizeof(buf), "unknown");
	say("load", buf);
	if (!uname(&uts)) {
		snprintf(buf, sizeof(buf), "%s", uts.release);
		say("kernel", buf);
	}
	say("spectre_v2", first_line("/sys/devices/system/cpu/vulnerabilities/spectre_v2",
				     ""));
	snprintf(buf, sizeof(buf), "%.4f ns per TSC cycle", ns_per_tick);
	say("TSC", buf);
	snprintf(buf, sizeof(buf), "%u, interleaved, over %d placements of the code",
		 rounds, VARIANTS);
	say("rounds", buf);
	jf_stats_get(&stats, sizeof(stats));
	snprintf(buf, sizeof(buf), "%llu of dynamic functions go by the trampoline, of %llu sites",
		 (unsigned long long)stats.trampolined, (unsigned long long)stats.sites);
	say("calls", buf);
}

static void print_row(const struct program *p, const struct program *direct)
{
	char ratio[16] = "-";

	if (direct && direct->min > 0)
		snprintf(ratio, sizeof(ratio), "%.2f", p->min / direct->min);
	printf("  %-34s %8.2f %8.2f %8.1f %8.1f %8s\n", p->text, p->min * ns_per_tick,
	       p->median * ns_per_tick, p->min, p->median, ratio);
	if (csv)
		fprintf(csv, "%s,%s,%s,%u,%.4f,%.4f,%.3f,%.3f,%s\n", p->group,
			layout_names[p->layout], p->name, p->subscribers,
			p->min * ns_per_tick, p->median * ns_per_tick, p->min, p->median,
			direct && direct->min > 0 ? ratio : "");
}

static void print_head(const char *title, const char *ratio)
{
	printf("\n%-36s %8s %8s %8s %8s %8s\n", title, "ns min", "ns med", "cyc min",
	       "cyc med", ratio);
}

static const unsigned int counts[] = { 1, 2, 4, 8 };
#define NR_COUNTS	(sizeof(counts) / sizeof(counts[0]))

static void print_subscribers(enum layout layout)
{
	static const char *const names[] = { "direct", "chain", "array-plain", "array-urcu-memb", "array-urcu-bp",
					     "array-retpoline" };
	char title[64];
	size_t n, i;

	for (n = 0; n < NR_COUNTS; n++) {
		snprintf(title, sizeof(title), "%u subscriber%s, %s", counts[n], counts[n] > 1 ? "s" : "",
			 layout == ONE ? "one site" : "64 sites in a line");
		print_head(title, "x chain");
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct program *p = find_row("subscribers", names[i], layout, counts[n]);

			if (p)
				print_row(p, find_row("subscribers", "chain", layout, counts[n]));
		}
	}
}

static void print_updates(unsigned int peers)
{
	size_t s, b;

	printf("\nUpdates, %u running peer%s%18s %10s %12s %10s %8s\n", peers,
	       peers == 1 ? "" : "s", "sites", "us min", "us median", "broadcasts", "x batch");
	for (s = 0; s < NR_UPDATE_SIZES; s++)
		for (b = 2; b-- > 0;) {
			const struct update_result *u = &update_results[s][b][!!peers];
			const struct update_result *batch = &update_results[s][1][!!peers];

			if (!u->done)
				continue;
			printf("  %-34s %5u %10.1f %12.1f %10llu %8.1f\n",
			       update_sizes[s].keys ?
			       b ? "keys, one transaction" : "keys, one by one" :
			       b ? "one transaction" : "one by one", update_sizes[s].sites,
			       u->min_us, u->median_us,
			       (unsigned long long)u->broadcasts,
			       u->median_us / batch->median_us);
			if (csv)
				fprintf(csv, "update,%u,%s%s,%u,%.1f,%.1f,,,%llu\n", peers,
					update_sizes[s].keys ? "keys-" : "",
					b ? "batch" : "single", update_sizes[s].sites,
					u->min_us * 1e3, u->median_us * 1e3,
					(unsigned long long)u->broadcasts);
		}
}

static void print_rows(const char *group, const char *title, enum layout layout,
		       const char *against)
{
	const struct program *other = against ? find_row(group, against, layout, 0) : NULL;
	char head[64], ratio[16] = "";
	size_t i;

	snprintf(head, sizeof(head), "%s, %s", title,
		 layout == STRAIGHT ? "64 sites in a line" : "1024 in random order");
	if (against)
		snprintf(ratio, sizeof(ratio), "x %s", against);
	print_head(head, ratio);
	for (i = 0; i < nr_programs; i++)
		if (!strcmp(programs[i].group, group) &&
		    programs[i].layout == layout && programs[i].base != &programs[i])
			print_row(&programs[i], other);
}

/* Whether libjumpfunc changes calls where they stand, by breakpoints (JUMPFUNC_TRAP=always). */
static bool calls_in_place(void)
{
	static struct jf_stats stats;

	jf_stats_get(&stats, sizeof(stats));
	return !strcmp(stats.form, "int3");
}

static void print_groups(void)
{
	static const struct {
		const char *group, *title, *against;
		bool random;
	} groups[] = {
		{ "branch", "Off", NULL, true },
		{ "branch-cold", "Off, cold", NULL, false },
		{ "alu", "Throughput, off", NULL, false },
		{ "alu-clang", "Throughput, clang, off", NULL, false },
		{ "call", "Calls", "direct", true },
		{ "call-work", "Calls amid other work", "direct", true },
		{ "call-chain", "Calls in a chain, the work with them", "direct", false },
	};
	size_t i;

	say("compiler", __VERSION__);
	say("libjumpfunc", calls_in_place() ?
	    "int3: calls are patched where they stand (JUMPFUNC_TRAP=always)" :
	    "flip: calls are patched where they stand, without breakpoints (the default)");
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		print_rows(groups[i].group, groups[i].title, STRAIGHT, groups[i].against);
		if (groups[i].random)
			print_rows(groups[i].group, groups[i].title, RANDOM, groups[i].against);
	}
	print_subscribers(STRAIGHT);
	print_subscribers(ONE);
	printf("%s", BENCH_SKIPPED);
}

static void goal(bool met, const char *fmt, ...)
{
	va_list args_;

	printf("  %-9s ", met ? "met" : "NOT met");
	va_start(args_, fmt);
	vprintf(fmt, args_);
	va_end(args_);
	putchar('\n');
}

/* Off, a key costs as much as a nop, and on, as much as a jump: within the noise of no site. */
static void compare(const char *group, const char *name, const char *with, enum layout layout)
{
	const struct program *none = find_row(group, "none", layout, 0);
	const struct program *a = find_row(group, name, layout, 0);
	const struct program *b = find_row(group, with, layout, 0);
	double noise, more;

	if (!none || !a || !b)
		return;
	noise = (none->raw_median - none->raw_min) * ns_per_tick;
	more = (a->min - b->min) * ns_per_tick;
	goal(more <= noise, "%s: %s %+.3f ns against %s; noise of no site %.3f ns (%s)", group, name,
	     more, with, noise, layout_names[layout]);
}

/* How many direct calls a call may cost, if the cost of a direct one can be measured. */
static void compare_call(const char *group, const char *name, const char *text, double most,
			 enum layout layout)
{
	const struct program *none = find_row(group, "none", layout, 0);
	const struct program *direct = find_row(group, "direct", layout, 0);
	const struct program *call = find_row(group, name, layout, 0);

	if (!none || !direct || !call)
		return;
	if (direct->min <= none->raw_median - none->raw_min)
		printf("  not told  %s, %s: a direct call costs no more than the noise (%s)\n", group,
		       text, layout_names[layout]);
	else
		goal(call->min <= most * direct->min, "%s, %s %.2f x direct call, at most %.4g (%s)",
		     group, text, call->min / direct->min, most, layout_names[layout]);
}

/* The price for a reader, so that others can wait for it. */
static void limit_call(const char *name, const char *text, const char *less, double most,
		       enum layout layout)
{
	const struct program *call = find_row("call", name, layout, 0);
	const struct program *other = find_row("call", less, layout, 0);
	double ns;

	if (!call || !other)
		return;
	ns = (call->min - other->min) * ns_per_tick;
	goal(ns <= most, "%s %.2f ns, at most %.3g (%s)", text, ns, most, layout_names[layout]);
}

static void print_branch_and_call_goals(void)
{
	static const char *const rows[] = { "key-off", "key-off-again", "tracepoint" };
	static const char *const groups[] = { "call", "call-work", "call-chain" };
	size_t i;
	int layout;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		compare("alu", rows[i], "nop5", STRAIGHT);
		compare("alu-clang", rows[i], "nop5", STRAIGHT);
	}
	for (layout = STRAIGHT; layout < NR_LAYOUTS; layout++) {
		compare("branch", "key-off", "nop5", (enum layout)layout);
		compare("branch", "key-on", "jump", (enum layout)layout);
		for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
			compare_call(groups[i], "dynfunc", calls_in_place() ? "dynamic function, in place," :
				     "dynamic function", 1.05, (enum layout)layout);
		compare_call("call", "trampoline", "by its trampoline", 1.9, (enum layout)layout);
		limit_call("read-section", "a read section costs", "none", 3, (enum layout)layout);
		limit_call("tracepoint", "a probe costs, beside its direct call,", "direct", 3,
			   (enum layout)layout);
	}
}

/* The array's time divided by the tracepoint's, at the number of subscribers where it is least. */
static void compare_array(const char *name, const char *text, enum layout layout, unsigned int from)
{
	double worst = 0;
	size_t n;

	for (n = 0; n < NR_COUNTS; n++) {
		const struct program *chain = find_row("subscribers", "chain", layout, counts[n]);
		const struct program *array = find_row("subscribers", name, layout, counts[n]);

		if (!chain || !array)
			return;
		if (counts[n] >= from && (!worst || array->min / chain->min < worst))
			worst = array->min / chain->min;
	}
	goal(worst >= 1, "%s, from N = %u on: at least %.2f x tracepoint, goal 1 (%s)", text, from, worst,
	     layout_names[layout]);
}

static void print_subscriber_goals(void)
{
	const struct program *one = find_row("subscribers", "chain", ONE, 1);
	const struct program *chain = find_row("subscribers", "chain", STRAIGHT, MAX_SUBSCRIBERS);
	const struct program *ret = find_row("subscribers", "array-retpoline", STRAIGHT, MAX_SUBSCRIBERS);
	static const enum layout layouts[] = { STRAIGHT, ONE };
	size_t i;

	if (chain && ret)
		goal(ret->min >= 8 * chain->min, "retpolined array %.1f x tracepoint of 8, at least 8",
		     ret->min / chain->min);
	if (one)
		goal(one->min * ns_per_tick <= 2.5, "a tracepoint with one probe %.2f ns, at most 2.5 (hot)",
		     one->min * ns_per_tick);
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		compare_array("array-urcu-memb", "array in a section of urcu-memb", layouts[i], 1);
		compare_array("array-urcu-bp", "array in a section of urcu-bp", layouts[i], 1);
		compare_array("array-plain", "plain array", layouts[i], 2);
	}
}

/* @peers: callers beside the updater; 0 or as many as there are cores for. */
void print_all(unsigned int rounds, unsigned int peers)
{
	print_machine(rounds);
	if (csv)
		fprintf(csv, "group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median,"
			"ratio_or_broadcasts\n");
	print_groups();
	if (opt.updates) {
		print_updates(0);
		if (peers)
			print_updates(peers);
	}
	printf("\nGoals, by the minima\n");
	print_branch_and_call_goals();
	print_subscriber_goals();
}
