// SPDX-License-Identifier: GPL-2.0
/*
 * The fakes of fake.h, for all that stands on fake_base.c and fake_quiesce.c: the
 * architecture, modules and their tables, jf_core.c, jf_tracepoint.c and their rooms. The engine's
 * sources are included, so that its statics can be read, and so that its callees can be replaced by
 * macros.
 */
#include "fake_kernel.h"

/* --- the engine -------------------------------------------------------- */

static bool jfk_queue(unsigned long delay)
{
	bool was = jfk.scheduled;

	if (!was)
		jfk.delay = delay;
	jfk.scheduled = true;
	return !was;
}

static bool jfk_queue_busy(unsigned long delay)
{
	bool was = jfk.busy_scheduled;

	if (!was)
		jfk.busy_delay = delay;
	jfk.busy_scheduled = true;
	return !was;
}

static bool jfk_flush(void);
static void jfk_cancel(struct delayed_work *w);

/* The work of deferred keys: one at a time. */
static bool jfk_queue_key(struct delayed_work *w, unsigned long delay)
{
	bool was = jfk.key_work;

	if (was && jfk.key_work != w)
		jfk_breach("the work of two keys at a time");
	jfk.key_work = w;
	if (!was)
		jfk.key_delay = delay;
	return !was;
}

static bool jfk_requeue_key(struct delayed_work *w, unsigned long delay)
{
	bool was = !jfk_queue_key(w, delay);

	jfk.key_delay = delay;
	return was;
}

bool jfk_key_work(void)
{
	struct delayed_work *w = jfk.key_work;

	jfk.key_work = NULL;
	if (w)
		w->work.func(&w->work);
	return w;
}

#define jfk_is_reclaim(w)		((w) == &jf_reclaim_later)
#define jfk_is_busy(w)			((w) == &jf_busy_later)
static bool jfk_queue_work(struct delayed_work *w, unsigned long delay);
static bool jfk_requeue_work(struct delayed_work *w, unsigned long delay);
#define queue_delayed_work(wq, w, delay) jfk_queue_work(w, delay)
#define mod_delayed_work(wq, w, delay)	jfk_requeue_work(w, delay)
static bool jfk_flush_work(bool reclaim)
{
	return reclaim ? jfk_flush() : jfk_key_work();
}

#define flush_delayed_work(w)		jfk_flush_work(jfk_is_reclaim(w))
#define cancel_delayed_work_sync(w)	jfk_cancel(w)

/* The results of kernel/quiesce/function.c. */
static enum jf_text_kind jfk_text_of(void *func)
{
	if (func == jfk.no_text)
		return JF_TEXT_NONE;
	return func == jfk.old_text ? JF_TEXT_MODULE : JF_TEXT_KERNEL;
}

#define jf_text_of(func)		jfk_text_of(func)

static bool jfk_get(struct module *mod)
{
	struct jfk_mod *m = container_of(mod, struct jfk_mod, mod);

	if (mod->state == MODULE_STATE_GOING)
		return false;
	m->refs++;
	return true;
}

static void jfk_put(struct module *mod)
{
	if (!container_of(mod, struct jfk_mod, mod)->refs--)
		jfk_breach("a reference to a module is released that was not taken");
}

/* Others may do something just before. */
#undef cmpxchg
#define cmpxchg(p, old, new)						\
	({								\
		if (jfk.on_cmpxchg)					\
			jfk.on_cmpxchg();				\
		__sync_val_compare_and_swap((p), (old), (new));		\
	})

#undef try_module_get
#undef module_put
#define try_module_get(mod)		jfk_get(mod)
#define module_put(mod)			jfk_put(mod)

#include "../../jf_core.c"
#include "../../kernel/tracepoint/code.c"
#include "../../kernel/tracepoint/probes.c"
#include "../../kernel/tracepoint/plan.c"
#include "../../jf_tracepoint.c"
#include "../../kernel/tracepoint/batch.c"
#include "../../kernel/update/keys.c"
#include "../../kernel/consumers/tables.c"
#include "../../kernel/consumers/unload.c"
#include "../../kernel/consumers/module.c"
#include "common/x86/insn.h"

static bool jfk_queue_work(struct delayed_work *w, unsigned long delay)
{
	if (jfk_is_busy(w))
		return jfk_queue_busy(delay);
	return jfk_is_reclaim(w) ? jfk_queue(delay) : jfk_queue_key(w, delay);
}

static bool jfk_requeue_work(struct delayed_work *w, unsigned long delay)
{
	return jfk_requeue_key(w, delay);
}

static void jfk_cancel(struct delayed_work *w)
{
	if (jfk.cpus_locked || mutex_is_locked(&jf_mutex))
		jfk_breach("waits for work with a lock that the work takes");
	if (jfk_is_reclaim(w))
		jfk.scheduled = false;
	else if (jfk_is_busy(w))
		jfk.busy_scheduled = false;
	else if (jfk.key_work == w)
		jfk.key_work = NULL;
}

static bool jfk_flush(void)
{
	bool was = jfk.scheduled;

	jfk.scheduled = false;
	if (was)
		jf_reclaim_work(NULL);
	return was;
}

/* --- the architecture -------------------------------------------------- */

u64 jfk_text(unsigned long addr)
{
	return get_unaligned((u64 *)addr) & 0xffffffffffULL;
}

void jfk_write(unsigned long addr, u64 insn)
{
	unsigned int i;

	for (i = 0; i < JF_ARCH_SITE_SIZE; i++)
		((u8 *)addr)[i] = insn >> (8 * i);
}

u64 jfk_insn(enum jf_op op, unsigned long target)
{
	return (0x10 + op) | (u64)(u32)target << 8;
}

/*
 * The protocol's world: text that is never executed. Each step is checked where it
 * counts, at the broadcasts. A foreign writer may change one of the sites.
 */
static struct {
	const struct jf_poke *pokes;
	unsigned int num;
	bool live, fails;
	/* From 1: this poke finds other bytes than the comparison before. */
	unsigned int foreign;		/* bytes, at the last comparison */
	unsigned int late;		/* a first byte, after it */
	u64 bytes;
	unsigned int syncs;
} jfk_run;

static bool jfk_is_poke(const struct jf_poke *p, unsigned int nr)
{
	return p == jfk_run.pokes + nr - 1;
}

static inline jf_insn_t jf_world_load(const struct jf_poke *p)
{
	return jfk_is_poke(p, jfk_run.foreign) ? jfk_run.bytes :
						 jfk_text(p->site->addr);
}

static inline void jf_world_store(const struct jf_poke *p, int i, u8 byte)
{
	u8 *text = (u8 *)p->site->addr;

	if (jfk_run.live && i && text[0] != JFK_BREAKPOINT)
		jfk_breach("a tail is written without a breakpoint in front");
	if (jfk_run.live && jfk_is_poke(p, jfk_run.late))
		jfk_breach("a foreign byte is overwritten");
	text[i] = byte;
}

static inline bool jf_world_swap(const struct jf_poke *p, u8 from, u8 to)
{
	u8 *text = (u8 *)p->site->addr;

	if (text[0] != from || jfk_is_poke(p, jfk_run.late))
		return false;
	text[0] = to;
	return true;
}

static inline void jf_world_publish(const struct jf_poke *p)
{
	if (jfk_run.live && jfk_run.syncs != 1)
		jfk_breach("the handler is not told after the first broadcast");
	WRITE_ONCE(p->site->insn, p->new);
}

static inline void jf_world_sync(void)
{
	unsigned int i;

	jf_stats.broadcasts++;
	jfk_run.syncs++;
	if (jfk.on_sync)
		jfk.on_sync();
	for (i = 0; i < jfk_run.num; i++) {
		const struct jf_poke *p = &jfk_run.pokes[i];
		u64 text = p->new, word = p->new;

		if (jfk_run.fails || (jfk_run.live && jfk_run.syncs == 1))
			text = word = p->old;
		if (!jfk_run.fails && jfk_run.live && jfk_run.syncs < 3)
			text = (text & ~0xffULL) | JFK_BREAKPOINT;
		if (jfk_text(p->site->addr) != text)
			jfk_breach("other bytes at a broadcast");
		if (p->site->insn != word)
			jfk_breach("the handler takes a site for something else");
	}
}

#include "common/x86/protocol.h"

/* As the module does it; @fail: the error for foreign bytes. */
static int jfk_transact(const struct jf_poke *pokes, unsigned int num, bool live,
			int fail)
{
	unsigned int at = fail ? jfk.patch_err_at : 0, syncs;
	size_t bad = num;
	int err;

	memset(&jfk_run, 0, sizeof(jfk_run));
	jfk_run.pokes = pokes;
	jfk_run.num = num;
	jfk_run.live = live;
	jfk_run.fails = fail;
	if (fail == -EBUSY && live) {
		jfk_run.late = at;
	} else if (fail) {
		jfk_run.foreign = at;
		jfk_run.bytes = fail == -EBUSY ? JFK_BREAKPOINT : pokes[at - 1].new;
	}

	err = jf_proto_verify(pokes, num, &bad);
	if (err && bad != at - 1)
		jfk_breach("another poke is blamed");
	syncs = !err ? (live && !fail ? 3 : 1) : 0;
	if (!err && live)
		err = jf_proto_live(pokes, num);
	else if (!err)
		jf_proto_early(pokes, num);
	if (err != fail)
		jfk_breach("a transaction ends otherwise than it should");
	if (jfk_run.syncs != syncs)
		jfk_breach("another number of broadcasts");
	if (fail)
		jfk.undone += syncs;
	jfk_run.pokes = NULL;
	return err;
}

int jf_arch_init(const char *backend)
{
	return 0;
}

void jf_arch_exit(void)
{
}

const char *jf_arch_backend(void)
{
	return "fake";
}

bool jf_arch_patches(void)
{
	return !jfk.indirect;
}

bool jf_arch_has_sites(void)
{
	return !jfk.indirect;
}

int jf_arch_adopt(struct jf_site *site, unsigned long tramp)
{
	lockdep_assert_held(&jf_mutex);
	jfk.adopted++;
	if (jfk.adopt_err && jfk.adopted == jfk.adopt_err_at)
		return jfk.adopt_err;
	/* As the jump stands after an endbr. */
	if (site->flags & JF_SITE_TRAMP)
		site->addr += 4;
	if (jfk_text(site->addr) != JFK_ORIG)
		return -EILSEQ;
	site->insn = JFK_ORIG;
	site->asked = JFK_ORIG;
	if (site->flags & JF_SITE_BRANCH)
		site->label = jfk_label(site->addr);
	return 0;
}

int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn)
{
	if (jfk.far && target == (unsigned long)jfk.far)
		return -ERANGE;
	*insn = jfk.unreached ? site->insn : jfk_insn(op, target);
	return 0;
}

int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad)
{
	lockdep_assert_held(&jf_mutex);
	return jf_proto_verify(pokes, num, bad);
}

/* Which images can be reached, and which not any more. */
static void jfk_images_poked(u64 old, u64 new)
{
	struct jfk_image *im;

	for (im = jfk.image; im < jfk.image + JFK_IMAGES; im++) {
		if (new == jfk_call(im) || new == jfk_jmp(im))
			im->published = true;
		if (old == jfk_call(im) || old == jfk_jmp(im))
			im->asked = false;
	}
}

void jf_arch_settle(void)
{
	jfk.settles++;
	if (jfk.on_settle)
		jfk.on_settle();
}

bool jf_arch_runs_failed(void)
{
	return jfk.runs_failed;
}

bool jf_arch_ran(void)
{
	lockdep_assert_held(&jf_mutex);
	return jfk.ran;
}

bool jf_arch_is_stuck(void)
{
	lockdep_assert_held(&jf_mutex);
	return jfk.stuck;
}

int jf_arch_mend(const struct list_head *sites)
{
	struct jf_site *site;

	list_for_each_entry(site, sites, list)
		if (site == jfk.stuck)
			return jf_arch_mend_all();
	return 0;
}

int jf_arch_mend_all(void)
{
	lockdep_assert_held(&jf_mutex);
	if (!jfk.cpus_locked)
		jfk_breach("text is written without the hotplug lock");
	if (!jfk.stuck)
		return 0;
	if (jfk.stuck_stays)
		return -EBUSY;
	jfk.stuck->insn = jfk.stuck->asked;
	jfk_write(jfk.stuck->addr, jfk.stuck->asked);
	jfk.stuck = NULL;
	return 0;
}

static void jfk_stick(const struct jf_poke *p)
{
	jfk.stuck = p->site;
	p->site->insn = p->new;
	jfk_write(p->site->addr, p->new);
}

/* All of them, and back. */
static void jfk_images_shown(const struct jf_poke *pokes, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		jfk_images_poked(pokes[i].old, pokes[i].new);
		jfk_images_poked(pokes[i].new, pokes[i].old);
	}
}

int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	int err = jfk.patch_err;
	unsigned int i;

	if (!mutex_is_locked(&jf_mutex))
		jfk_breach("a transaction without the lock");
	if (!num || num > JFK_SITES)
		jfk_breach("a transaction of no size");
	if (jfk.indirect)
		jfk_breach("a transaction where nothing is patched");
	for (i = 0; i < num; i++) {
		if (i && pokes[i - 1].site->addr >= pokes[i].site->addr)
			jfk_breach("pokes out of order");
		if (pokes[i].old != jfk_text(pokes[i].site->addr) ||
		    pokes[i].old != pokes[i].site->insn)
			jfk_breach("a poke whose old bytes were not compared");
		if (pokes[i].old == pokes[i].new && pokes[i].site != jfk.stuck)
			jfk_breach("a poke that changes nothing");
		if (jf_site_find(pokes[i].site->addr) != pokes[i].site)
			jfk_breach("a poke at a site that the handler would not find");
	}

	jfk.transactions++;
	jfk.live = live;
	/* An error leaves no byte changed, at whichever poke it was met. */
	if (err && err != -EIO && jfk.patch_err_at <= num) {
		if (jfk.patch_errs && !--jfk.patch_errs)
			jfk.patch_err = 0;
		jfk.ran = jfk.runs_failed && jfk.patch_err_at != 1 &&
			(err == -EBUSY || err == -EILSEQ);
		if (jfk.ran)
			jfk_images_shown(pokes, num);
		if (jfk.patch_err_at)
			err = jfk_transact(pokes, num, live, err);
		if (jfk.stuck_at && jfk.stuck_at <= num)
			jfk_stick(&pokes[jfk.stuck_at - 1]);
		return err;
	}
	jfk_transact(pokes, num, live, 0);
	jfk.pokes = num;
	for (i = 0; i < num; i++) {
		jfk.poke[i].addr = pokes[i].site->addr;
		jfk.poke[i].old = pokes[i].old;
		jfk.poke[i].new = pokes[i].new;
		jfk_images_poked(pokes[i].old, pokes[i].new);
		pokes[i].site->asked = pokes[i].new;
		if (pokes[i].site == jfk.stuck)
			jfk.stuck = NULL;
	}
	return err == -EIO ? err : 0;
}

unsigned long jf_arch_show(struct seq_file *m, const struct jf_site *site)
{
	return 0;
}

/* --- images ------------------------------------------------------------ */

int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image)
{
	struct jfk_image *im = jfk.image;

	lockdep_assert_held(&jf_retired_mutex);
	if (jfk.indirect)
		return -EOPNOTSUPP;
	if (jfk.image_err)
		return jfk.image_err;
	if (!num || num > JF_TRACE_CHAIN_MAX)
		jfk_breach("an image of no size");
	while (im < jfk.image + jfk.images && im->used)
		im++;
	if (im == jfk.image + jfk.images)
		return -ENOSPC;
	im->used = true;
	im->published = false;
	im->asked = false;
	im->num = num;
	im->nargs = nargs;
	memcpy(im->call, calls, num * sizeof(*calls));
	*image = im;
	return 0;
}

void jf_arch_image_put(void *image)
{
	struct jfk_image *im = image;

	if (!im->used)
		jfk_breach("an image given back twice");
	if (im->published && !im->asked && !jfk.blind)
		jfk_breach("an image given back without a scan for tasks in it");
	if (jfk_is_inside(im, im + 1))
		jfk_breach("an image given back while a task is in it");
	im->used = false;
}

unsigned int jfk_images_used(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < JFK_IMAGES; i++)
		n += jfk.image[i].used;
	return n;
}

void jf_arch_stats_get(struct jf_arch_stats *stats)
{
	*stats = (struct jf_arch_stats){
		.images_used = jfk_images_used(),
		.images_total = jfk.images,
	};
}

/* --- a module's tables ------------------------------------------------- */

static noinline int target0(void) { return 0; }
static noinline int target1(void) { return 1; }
static noinline int target2(void) { return 2; }
static noinline int target3(void) { return 3; }
static noinline void iterator(void) { }

void *jfk_target(unsigned int i)
{
	static void * const targets[] = { target0, target1, target2, target3 };

	return targets[i];
}

void *jfk_iter(void)
{
	return iterator;
}

struct jfk_mod *jfk_module(struct kunit *test, const char *name)
{
	struct jfk_mod *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct jf_table *t;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m);
	strscpy(m->mod.name, name, sizeof(m->mod.name));
	m->mod.state = MODULE_STATE_UNFORMED;
	memset(m->mem.text, JFK_ORIG & 0xff, sizeof(m->mem.text));
	memset(m->mem.init_text, JFK_ORIG & 0xff, sizeof(m->mem.init_text));
	t = &m->mem.table;
	t->magic = JF_TABLE_MAGIC;
	t->rec_size = JF_TABLE_REC_SIZE;
	t->owner = &m->mod;
	t->sites = t->sites_end = m->mem.site;
	t->ents = t->ents_end = m->mem.ent;
	t->targets = t->targets_end = m->mem.list;
	/* A parameter of its own may precede the tables. */
	m->kp[0].ops = &param_ops_int;
	m->kp[1].ops = &jf_table_ops;
	m->kp[1].arg = t;
	m->mod.kp = m->kp;
	m->mod.num_kp = 2;
	return m;
}

static const char *jfk_name(struct jfk_mod *m, const char *name)
{
	strscpy(m->mem.name[m->ents], name, sizeof(m->mem.name[0]));
	return m->mem.name[m->ents];
}

static void jfk_ent(struct jfk_mod *m, struct jf_ent *ent, void *tramp)
{
	struct jf_ent_rec *r = &m->mem.ent[m->ents++];

	r->ent = ent;
	r->tramp = tramp;
	r->num = 1;
	m->mem.table.ents_end = r + 1;
}

struct jf_func *jfk_func(struct jfk_mod *m, const char *name, void *init, u16 flags)
{
	struct jf_func *f = &m->mem.func[m->funcs++];
	void *tramp = m->mem.text + m->at;

	m->at += 16;
	if (!init)
		init = flags & JF_ENT_RET0 ? (void *)jf_ret0 : (void *)jf_nop;
	f->func = init;
	f->init = init;
	f->ent = (struct jf_ent){ jfk_name(m, name), &m->mod, JF_ENT_FUNC, flags };
	jfk_ent(m, &f->ent, tramp);
	return f;
}

struct jf_key *jfk_key(struct jfk_mod *m, const char *name, bool on, u16 flags)
{
	struct jf_key *k = &m->mem.key[m->keys++];

	k->enabled = on;
	k->count = on;
	k->ent = (struct jf_ent){ jfk_name(m, name), &m->mod, JF_ENT_KEY, flags };
	jfk_ent(m, &k->ent, NULL);
	return k;
}

struct jf_key_deferred *jfk_deferred(struct jfk_mod *m, const char *name, unsigned long delay)
{
	struct jf_key_deferred *d = &m->mem.deferred;

	d->key.ent = (struct jf_ent){ jfk_name(m, name), &m->mod, JF_ENT_KEY, JF_ENT_DEFERRED };
	d->delay = delay;
	INIT_DELAYED_WORK(&d->work, jf_key_deferred_work);
	jfk_ent(m, &d->key.ent, NULL);
	return d;
}

struct jf_tracepoint *jfk_tp(struct jfk_mod *m, const char *name, unsigned int nargs)
{
	struct jf_tracepoint *tp = &m->mem.tp[m->tps++];

	tp->name = jfk_name(m, name);
	tp->owner = &m->mod;
	tp->key = jfk_key(m, name, false, 0);
	tp->call = jfk_func(m, name, NULL, JF_ENT_NULL_OK | JF_ENT_TRACE);
	tp->iter = iterator;
	tp->nargs = nargs;
	jfk_site(m, &tp->key->ent, JF_SITE_BRANCH);
	jfk_site(m, &tp->call->ent, JF_SITE_CALL);
	return tp;
}

unsigned long jfk_site_at(struct jfk_mod *m, struct jf_ent *ent, u32 flags, void *addr)
{
	struct jf_site_rec *r = &m->mem.site[m->sites++];

	r->addr = (unsigned long)addr - (unsigned long)&r->addr;
	r->flags = flags;
	r->ent = ent;
	m->mem.table.sites_end = r + 1;
	return (unsigned long)addr;
}

unsigned long jfk_site(struct jfk_mod *m, struct jf_ent *ent, u32 flags)
{
	void *addr = m->mem.text + m->at;

	m->at += JF_ARCH_SITE_SIZE;
	return jfk_site_at(m, ent, flags, addr);
}

void *jfk_init_text(struct jfk_mod *m)
{
	void *addr = m->mem.init_text + m->init_at;

	m->init_at += JF_ARCH_SITE_SIZE;
	return addr;
}

void jfk_allow(struct jfk_mod *m, struct jf_func *f, const char *name, void *func)
{
	struct jf_target_rec *r = &m->mem.list[m->lists++];
	struct jf_target *t = &m->mem.target[m->targets++];

	t->name = strcpy(m->mem.name[2 * JFK_ENTS - m->targets], name);
	t->func = func;
	r->ent = &f->ent;
	r->targets = t;
	r->num = 1;
	m->mem.table.targets_end = r + 1;
}

unsigned long jfk_tramp(struct jfk_mod *m, struct jf_func *f)
{
	unsigned int i;

	for (i = 0; i < m->ents; i++)
		if (m->mem.ent[i].ent == &f->ent)
			return (unsigned long)m->mem.ent[i].tramp + 4;
	return 0;
}

void *jfk_code(struct jfk_mod *m, unsigned int i)
{
	return m->mem.text + JFK_TEXT - 16 * (i + 1);
}

int jfk_notify(struct jfk_mod *m, unsigned long state)
{
	int err;

	m->mod.state = state;
	err = notifier_to_errno(jf_module_notify(NULL, state, &m->mod));
	if (state == MODULE_STATE_GOING && jfk_is_inside(m->mem.text, m->mem.init_text + JFK_INIT_TEXT))
		jfk_breach("a module is freed while a task is in it");
	return err;
}

int jfk_load(struct jfk_mod *m)
{
	int err = jfk_notify(m, MODULE_STATE_COMING);

	return err ?: jfk_notify(m, MODULE_STATE_LIVE);
}

/* --- the engine's statics ---------------------------------------------- */

int jfk_cut_off(struct jfk_mod *m, long timeout)
{
	jf_module_going(&m->mod);
	return jf_cut_off(&m->mod, timeout);
}

int jfk_check_target(void *func, struct jfk_mod *own)
{
	int err;

	jf_lock();
	err = jf_check_target("test", func, own ? jf_mod_find(&own->mod) : NULL, false);
	jf_unlock();
	return err;
}

unsigned int jfk_num_retired_probes(void)
{
	struct jf_probes *p;
	unsigned int n = 0;

	list_for_each_entry(p, &jf_retired_all, all)
		n++;
	return n;
}

unsigned int jfk_num_tps(void)
{
	struct jf_tracepoint *tp;
	unsigned int n = 0;

	list_for_each_entry(tp, &jf_tracepoints, list)
		n++;
	return n;
}

unsigned int jfk_num_probes(const struct jf_tracepoint *tp)
{
	return jf_num(tp->probes);
}

const struct jf_probe *jfk_probe(const struct jf_tracepoint *tp, unsigned int i)
{
	static const struct jf_probe none;

	return i < jf_num(tp->probes) ? &tp->probes->probe[i] : &none;
}

void *jfk_probes_image(const struct jf_tracepoint *tp)
{
	return tp->probes ? tp->probes->image : NULL;
}

const void *jfk_probes_id(const struct jf_tracepoint *tp)
{
	return tp->probes;
}

static void jfk_busy(void)
{
	bool was = jfk.busy_scheduled;

	jfk.busy_scheduled = false;
	if (was)
		jf_busy_work(NULL);
}

void jfk_reclaim(void)
{
	jfk_busy();
	jfk_flush();
}

/* --- a copy of the state ----------------------------------------------- */

#define JFK_SAVED_MODULES	4

struct jfk_state {
	struct jf_stats		stats;
	unsigned int		modules, map, retired, images, tps;
	int			not_freed;
	struct jf_mod		*mod[JFK_SAVED_MODULES];
	struct jfk_mem		mem[JFK_SAVED_MODULES];
	u64			updates[JFK_SAVED_MODULES];
	unsigned int		sites[JFK_SAVED_MODULES];
};

static void jfk_capture(struct jfk_state *s)
{
	unsigned int i, n = 0;
	struct jf_mod *m;

	memset(s, 0, sizeof(*s));
	s->stats = jf_stats;
	s->stats.errors = 0;
	s->stats.broadcasts -= jfk.undone;
	s->modules = jfk_num_modules();
	s->map = jfk_map_num();
	s->retired = jfk_num_retired_probes();
	s->tps = jfk_num_tps();
	s->images = jfk_images_used();
	s->not_freed = jfk.not_freed;
	list_for_each_entry(m, &jf_modules, list) {
		if (n == JFK_SAVED_MODULES)
			break;
		s->mod[n] = m;
		s->mem[n] = container_of(m->mod, struct jfk_mod, mod)->mem;
		for (i = 0; i < m->num_ctls; i++) {
			s->updates[n] += m->ctls[i].updates;
			s->sites[n] += m->ctls[i].num_sites;
			if (m->ctls[i].pending)
				jfk_breach("an entity still marked as pending");
		}
		n++;
	}
}

struct jfk_state *jfk_save(struct kunit *test)
{
	struct jfk_state *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	jfk_capture(s);
	return s;
}

const char *jfk_changed(const struct jfk_state *s)
{
	struct jfk_state *now = jfk_real_alloc(sizeof(*now), GFP_KERNEL);
	const char *what = NULL;

	if (!now)
		return "no memory to tell";
	jfk_capture(now);
	if (memcmp(&s->stats, &now->stats, sizeof(s->stats)))
		what = "statistics";
	else if (s->modules != now->modules || memcmp(s->mod, now->mod, sizeof(s->mod)))
		what = "the list of modules";
	else if (s->map != now->map)
		what = "the site map";
	else if (memcmp(s->mem, now->mem, sizeof(s->mem)))
		what = "memory of a module: text or values";
	else if (memcmp(s->updates, now->updates, sizeof(s->updates)))
		what = "an entity's number of updates";
	else if (memcmp(s->sites, now->sites, sizeof(s->sites)))
		what = "an entity's number of sites";
	else if (s->tps != now->tps)
		what = "the list of tracepoints";
	else if (s->images - s->retired != now->images - now->retired)
		what = "images in use";
	else if (s->not_freed - (int)s->retired != now->not_freed - (int)now->retired)
		what = "allocations";
	jfk_real_free(now);
	return what;
}

/* --- init and exit ----------------------------------------------------- */

static void on_update(void *data, const char *name, void *from, void *to)
{
	jfk.ev_updates++;
}

static void on_batch(void *data, u64 begin, u64 end, unsigned int entities,
		     unsigned int sites, int error)
{
	if (jfk.on_batch)
		jfk.on_batch();
	jfk.ev_batches++;
	jfk.ev_entities = entities;
	jfk.ev_sites = sites;
	jfk.ev_error = error;
	if (begin > end)
		jfk_breach("a batch that ends before it begins");
}

int jfk_init(struct kunit *test)
{
	int err;

	memset(&jfk, 0, sizeof(jfk));
	jfk.test = test;
	jfk_base_begin();
	INIT_LIST_HEAD(&jf_tracepoints);
	INIT_LIST_HEAD(&jf_retired_all);
	INIT_LIST_HEAD(&jf_retired_new);
	INIT_LIST_HEAD(&jf_retired_busy);
	jf_images_open = 0;
	memset(&jf_trace_stats, 0, sizeof(jf_trace_stats));
	jfk.images = JFK_IMAGES;
	jf_busy_is_known = false;
	memset(&jf_busy_stay, 0, sizeof(jf_busy_stay));
	err = jfk_quiesce_begin();
	err = err ?: register_trace_jf_update(on_update, NULL);
	return err ?: register_trace_jf_batch(on_batch, NULL);
}

/* Unloads the modules that the test left loaded; memory that is left then is a leak. */
void jfk_exit(struct kunit *test)
{
	unsigned int left = 0;

	jfk_force_context(false);
	jfk_heal();
	jfk.sleeps = 0;
	jfk_leave_all();
	/* The last one first, as it may need the others. */
	while (!list_empty(&jf_modules) && left++ < 100)
		jfk_notify(container_of(list_last_entry(&jf_modules, struct jf_mod,
							list)->mod,
					struct jfk_mod, mod), MODULE_STATE_GOING);
	jfk_reclaim();
	/* Images that are found busy now were left to the other work. */
	jfk_busy();
	jf_stay_free(&jf_busy_stay);
	jfk_quiesce_end(test);
	jfk_base_end();
	unregister_trace_jf_update(on_update, NULL);
	unregister_trace_jf_batch(on_batch, NULL);
	tracepoint_synchronize_unregister();

	KUNIT_EXPECT_EQ_MSG(test, jfk.breaches, 0U, "first: %s", jfk.breach ?: "");
	KUNIT_EXPECT_EQ(test, jfk.not_freed, 0);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_tps(), 0U);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&jf_mutex));
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&jf_tp_mutex));
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&jf_retired_mutex));
}
