// SPDX-License-Identifier: GPL-2.0
/*
 * Prints results: as a table for humans, as CSV for scripts. Both begin with the properties of the
 * machine, in lines that begin with "#".
 */
#include "bench.h"

#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>
#if JFB_X86
#include <asm/tsc.h>
#endif

void jfb_print_help(struct seq_file *m)
{
	seq_puts(m,
"# No results yet. Write what to run, then read:\n"
"#   echo all > bench                  everything; takes some seconds\n"
"#   echo calls branches > bench       some of calls, branches, keys, arrays,\n"
"#                                     batches\n"
"#   echo calls rounds=1000 > bench    measure each row so often (200)\n"
"#   echo calls calls=4096 > bench     so many calls each time (1024)\n"
"#   echo batches repeats=20 > bench   change each number of keys, there and back,\n"
"#                                     so often (5)\n"
"#   echo batches onebyone_max=100 > bench   leave out one-by-one updates of more\n"
"#                                     keys (5000; where the CPU is emulated 100)\n"
"#   echo all format=csv > bench       read it as CSV from now on (table)\n"
"#   echo format=table > bench         the same results in the other form\n"
"# It runs on the CPU of the writer (taskset chooses); ^C ends it early.\n");
}

void jfb_print_progress(struct seq_file *m, const struct jfb_run *run)
{
	seq_printf(m, "# a run is under way: %s, step %u of %u; below: the one before\n",
		   READ_ONCE(run->stage), READ_ONCE(run->step),
		   READ_ONCE(run->steps));
}

static void print_machine(struct seq_file *m, const struct jfb_run *run)
{
	seq_printf(m, "# kernel: %s\n", init_utsname()->release);
	seq_printf(m, "# cpu: %s\n", jfb_cpu_model());
	seq_printf(m, "# hypervisor: %s\n", jfb_hypervisor());
	if (jfb_emulator())
		seq_printf(m, "# EMULATED by %s: this is what emulated code costs, not what the CPU's own does\n",
			   jfb_emulator());
#if JFB_X86
	seq_printf(m, "# tsc_khz: %u\n", tsc_khz);
#endif
	seq_printf(m, "# measured_on: CPU %u, %u online\n", run->cpu,
		   num_online_cpus());
	seq_printf(m, "# backend: %s\n", jf_arch_backend());
	seq_printf(m, "# pointer_call: %s\n", jfb_pointer_call());
	seq_printf(m, "# return: %s\n", jfb_return());
	if (run->set.suites & BIT(JFB_SUITES - 1))
		seq_printf(m, "# chain: %s\n", jfb_chain());
	seq_printf(m, "# settings: rounds=%u calls=%u repeats=%u onebyone_max=%u\n",
		   run->set.rounds, run->set.calls, run->set.repeats,
		   run->set.onebyone_max);
	seq_printf(m, "# took_ms: %llu\n", div_u64(run->ns, NSEC_PER_MSEC));
}

/* --- numbers ------------------------------------------------------------- */

#define NUM_LEN	24

/* Thousandths as a decimal number with @digits places, 1 to 3. */
static const char *decimal(char *buf, s64 milli, unsigned int digits)
{
	u64 abs = milli < 0 ? -milli : milli;
	u32 rest, drop = digits == 3 ? 1 : digits == 2 ? 10 : 100;

	abs = div_u64_rem(div_u64(abs + drop / 2, drop), 1000 / drop, &rest);
	snprintf(buf, NUM_LEN, "%s%llu.%0*u",
		 milli < 0 && (abs || rest) ? "-" : "", abs, digits, rest);
	return buf;
}

/* The cost of one of @calls, in thousandths, without the loop. */
static s64 per_call(u64 sum, u64 loop, unsigned int calls)
{
	return div_s64(((s64)sum - (s64)loop) * 1000, calls);
}

/* The row's own figures, in thousandths. */
struct net {
	s64 ns_min, ns_median, cycles_min, cycles_median;
};

/*
 * The shortest loop is subtracted from both: the loop always takes that long,
 * and a disturbance of the middle one is no property of the row.
 */
static struct net get_net(const struct jfb_measure *r,
			  const struct jfb_measure *loop, unsigned int calls)
{
	return (struct net){
		.ns_min = per_call(r->ns_min, loop->ns_min, calls),
		.ns_median = per_call(r->ns_median, loop->ns_min, calls),
		.cycles_min = per_call(r->cycles_min, loop->cycles_min, calls),
		.cycles_median = per_call(r->cycles_median, loop->cycles_min,
					  calls),
	};
}

/* The row that row @i of the suite is compared with, or NULL. */
static const struct jfb_row *find_base(const struct jfb_suite *suite,
				       unsigned int i)
{
	const struct jfb_row *row = &suite->rows[i], *r;

	if (row->flags & JFB_LOOP)
		return NULL;
	for (r = suite->rows; r < suite->rows + suite->num; r++)
		if (r->flags & JFB_BASE && r->sites == row->sites &&
		    r->probes == row->probes)
			return r;
	return NULL;
}

typedef void (*row_fn)(struct seq_file *m, const struct jfb_run *run,
		       const struct jfb_suite *suite, const struct jfb_row *row,
		       const struct jfb_measure *r, const struct net *net,
		       s64 base);

/* Calls @fn for each row, with its loop subtracted from all but the loop's. */
static void for_each_row(struct seq_file *m, const struct jfb_run *run,
			 unsigned int s, row_fn fn)
{
	static const struct jfb_measure nothing;
	const struct jfb_suite *suite = jfb_suites[s];
	const struct jfb_measure *loop = &nothing;
	unsigned int i, calls = run->set.calls;

	for (i = 0; i < suite->num; i++) {
		const struct jfb_row *row = &suite->rows[i];
		const struct jfb_row *base = find_base(suite, i);
		const struct jfb_measure *r = &run->rows[s][i];
		s64 base_ns = 0;
		struct net net;

		if (base)
			base_ns = get_net(&run->rows[s][base - suite->rows],
					  loop, calls).ns_min;
		net = get_net(r, row->flags & JFB_LOOP ? &nothing : loop, calls);
		if (row->flags & JFB_LOOP)
			loop = r;
		fn(m, run, suite, row, r, &net, base_ns);
	}
}

/* --- the table -------------------------------------------------------------- */

/* True if a new block of lines begins with this row. */
static bool begins_block(const struct jfb_row *rows, unsigned int i)
{
	return i && (rows[i].flags & JFB_LOOP ||
		     rows[i].probes != rows[i - 1].probes);
}

static void print_row(struct seq_file *m, const struct jfb_run *run,
		      const struct jfb_suite *suite, const struct jfb_row *row,
		      const struct jfb_measure *r, const struct net *net,
		      s64 base)
{
	char a[NUM_LEN], b[NUM_LEN], c[NUM_LEN], d[NUM_LEN], x[NUM_LEN] = "";

	if (begins_block(suite->rows, row - suite->rows))
		seq_putc(m, '\n');
	if (base > 0)
		decimal(x, div64_s64(net->ns_min * 1000, base), 2);
	seq_printf(m, "%-16s %5u %2u %8s %8s %8s %8s %8s  %s\n",
		   row->name, row->sites, row->probes,
		   decimal(a, net->ns_min, 2), decimal(b, net->ns_median, 2),
		   decimal(c, net->cycles_min, 1),
		   decimal(d, net->cycles_median, 1), x, row->what);
}

static void print_suite(struct seq_file *m, const struct jfb_run *run,
			unsigned int s)
{
	const struct jfb_suite *suite = jfb_suites[s];
	const struct jfb_row *base = find_base(suite, suite->num - 1);

	seq_printf(m, "\n%s: %s\n", suite->name, suite->title);
	seq_printf(m, "                 sites  N   ns min   median  cyc min   median%s%s\n",
		   base ? " x " : "", base ? base->name : "");
	for_each_row(m, run, s, print_row);
}

static void print_us(struct seq_file *m, u64 ns)
{
	char buf[NUM_LEN];

	seq_printf(m, " %10s", decimal(buf, ns, 1));
}

static const char * const kind_titles[JFB_KINDS] = {
	[JFB_FUNCS]	= "dynamic functions, each with its trampoline and one call site",
	[JFB_KEYS]	= "jump-label keys, each with one branch site",
	[JFB_ONE_KEY]	= "one jump-label key with so many branch sites",
	[JFB_STATIC_KEY] = "one static key of the kernel's with so many branch sites",
};

static const char *protocol(unsigned int kind, const struct jfb_update *u)
{
	if (kind == JFB_STATIC_KEY)
		return "the kernel's jump labels";
	if (!u->transactions)
		return "none: no text is written";
	if (!u->by_kernel)
		return "own";
	return u->by_kernel == u->transactions ? "kernel's" : "both";
}

static void print_update(struct seq_file *m, const struct jfb_run *run,
			 unsigned int kind, const struct jfb_update *u,
			 enum jfb_how how, u64 batch)
{
	char x[NUM_LEN];

	seq_printf(m, "%-9s %4u", jfb_how_names[how], u->num);
	if (!u->samples) {
		seq_printf(m, "   skipped (%u > onebyone_max=%u)\n", u->num,
			   run->set.onebyone_max);
		return;
	}
	seq_printf(m, " %6llu", u->patched);
	print_us(m, u->ns_min);
	print_us(m, u->ns_median);
	if (kind == JFB_STATIC_KEY)
		seq_printf(m, " %10s", "?");
	else
		seq_printf(m, " %10llu", u->broadcasts);
	if (u->window_ns)
		print_us(m, u->window_ns);
	else
		seq_printf(m, " %10s", "");
	seq_printf(m, " %8s  %s\n",
		   decimal(x, div64_u64(u->ns_min * 1000, batch ?: 1), 2),
		   protocol(kind, u));
}

static void print_updates(struct seq_file *m, const struct jfb_run *run,
			  unsigned int kind)
{
	unsigned int i, how, against;

	seq_printf(m, "\nbatches: %s\n", kind_titles[kind]);
	/* One key is compared with one of ours. */
	against = kind == JFB_STATIC_KEY ? JFB_ONE_KEY : kind;
	seq_printf(m, "          %s  sites     us min     median broadcasts max at INT3 %s  protocol\n",
		   kind >= JFB_ONE_KEY ? "   n" : "keys",
		   kind == JFB_STATIC_KEY ? " x ours" : "x batch");
	for (i = 0; i < JFB_SIZES && jfb_sizes[i] <= jfb_kind_max[kind]; i++)
		for (how = 0; how < jfb_kind_hows(kind); how++)
			print_update(m, run, kind, &run->updates[kind][i][how],
				     how, run->updates[against][i][JFB_TOGETHER].ns_min);
}

void jfb_print_table(struct seq_file *m, const struct jfb_run *run)
{
	unsigned int i;

	print_machine(m, run);
	for (i = 0; i < JFB_SUITES; i++)
		if (run->rows[i])
			print_suite(m, run, i);
	if (run->set.suites & BIT(JFB_BATCHES))
		for (i = 0; i < JFB_KINDS; i++)
			print_updates(m, run, i);
}

/* --- CSV --------------------------------------------------------------------- */

/*
 * The first nine columns are those of the native benchmark, user/bench. There
 * "layout" says how many sites there are; of updates it says of what.
 */
#define CSV_HEAD							\
	"group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median," \
	"ratio_or_broadcasts,raw_ns_min,raw_ns_median,raw_cycles_min,"	\
	"raw_cycles_median,samples,per_sample,sites_patched,transactions," \
	"window_ns,note\n"

static void print_csv_row(struct seq_file *m, const struct jfb_run *run,
			  const struct jfb_suite *suite,
			  const struct jfb_row *row,
			  const struct jfb_measure *r, const struct net *net,
			  s64 base)
{
	char a[NUM_LEN], b[NUM_LEN], c[NUM_LEN], d[NUM_LEN], x[NUM_LEN] = "";

	if (base > 0)
		decimal(x, div64_s64(net->ns_min * 1000, base), 2);
	seq_printf(m, "%s,%s,%s,%u,%s,%s,%s,%s,%s,%llu,%llu,%llu,%llu,%u,%u,,,,\"%s\"\n",
		   suite->group, row->sites == 1 ? "hot" : "64", row->name,
		   row->probes, decimal(a, net->ns_min, 3),
		   decimal(b, net->ns_median, 3), decimal(c, net->cycles_min, 3),
		   decimal(d, net->cycles_median, 3), x, r->ns_min,
		   r->ns_median, r->cycles_min, r->cycles_median,
		   run->set.rounds, run->set.calls, row->what);
}

static void print_csv_update(struct seq_file *m, const struct jfb_run *run,
			     unsigned int kind, unsigned int how,
			     const struct jfb_update *u)
{
	seq_printf(m, "update,%s,%s,%u,", jfb_kind_names[kind],
		   jfb_how_names[how], u->num);
	if (!u->samples) {
		seq_printf(m, ",,,,,,,,,0,%u,,,,\"skipped (%u > onebyone_max=%u)\"\n",
			   u->num, u->num, run->set.onebyone_max);
		return;
	}
	seq_printf(m, "%llu,%llu,,,", u->ns_min, u->ns_median);
	if (kind != JFB_STATIC_KEY)
		seq_printf(m, "%llu", u->broadcasts);
	seq_printf(m, ",%llu,%llu,,,%u,%u,%llu,", u->ns_min, u->ns_median,
		   u->samples, u->num, u->patched);
	if (kind != JFB_STATIC_KEY)
		seq_printf(m, "%llu", u->transactions);
	seq_putc(m, ',');
	if (u->window_ns)
		seq_printf(m, "%llu", u->window_ns);
	seq_printf(m, ",\"protocol: %s\"\n", protocol(kind, u));
}

void jfb_print_csv(struct seq_file *m, const struct jfb_run *run)
{
	unsigned int s, kind, i, how;

	print_machine(m, run);
	seq_puts(m, CSV_HEAD);
	for (s = 0; s < JFB_SUITES; s++)
		if (run->rows[s])
			for_each_row(m, run, s, print_csv_row);
	if (!(run->set.suites & BIT(JFB_BATCHES)))
		return;
	for (kind = 0; kind < JFB_KINDS; kind++)
		for (i = 0; i < JFB_SIZES; i++)
			for (how = 0; how < jfb_kind_hows(kind); how++)
				if (jfb_sizes[i] <= jfb_kind_max[kind])
					print_csv_update(m, run, kind, how,
						&run->updates[kind][i][how]);
}
