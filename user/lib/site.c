// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sites, as the records of an object describe them. A record is 16 bytes of the file, and the
 * library's data about a site is more, and is memory of the process. So:
 *
 *   when the object is loaded	Trampolines, and branches that lead to a test as compiled, are
 *				entered. Of all other branches nothing is read, unless the
 *				object has keys that start enabled: then a look at the records
 *				tells those that a source file has declared otherwise.
 *   when a key changes		The first time for any key of the object, its records are put
 *				in order: by key, and by address for each, four bytes for one.
 *				The first time for this key, its sites are entered.
 *
 *   when a dynamic function changes
 *				The first time for any of the object, its calls are looked for,
 *				and entered as far as they are found.
 *
 * The instruction at a site before it is patched follows from its record, so no page of text is
 * looked at before it is written. That it really stands there is found out by jf_patch().
 *
 * JUMPFUNC_TRAP=always: all sites are entered when the object is loaded, since a handler has to
 * know them without a lock, calls included.
 */
#include "lib.h"

#include <string.h>

/*
 * The compiled instruction of a trampoline, which leads to the next one: see detail/site_user_*.h.
 */
#ifdef __x86_64__
#define TRAMPOLINE_KIND	JF_INSN_JMP
#else
#define TRAMPOLINE_KIND	JF_INSN_NOP
#endif

static uintptr_t at(const int32_t *field)
{
	return (uintptr_t)field + (intptr_t)*field;
}

static bool in_text(const struct jf_mod *m, uintptr_t addr, size_t size)
{
	return addr >= m->text && addr <= m->text_end && size <= m->text_end - addr;
}

static int bad(const struct jf_mod *m, const char *what)
{
	jf_say(false, "%s: %s; its branches and calls stay as compiled", m->name, what);
	return -EINVAL;
}

/* NULL: no memory. One that waits for its exporter is not known by its entity. */
static struct jf_ctl *ctl_of(const struct jf_mod *m, const struct jf_site_rec *rec)
{
	static struct jf_ctl *last;
	struct jf_ent *ent = (struct jf_ent *)at(&rec->ent);
	struct jf_ctl *end = m->ctls + m->num_ctls, *ctl;

	if (last >= m->ctls && last < end && last->ent == ent)
		return last;
	if ((uintptr_t)ent < m->start || (uintptr_t)ent > m->end - sizeof(*ent))
		return NULL;
	ctl = ent->ctl;
	if (ctl < m->ctls || ctl >= end || ctl->ent != ent)
		for (ctl = m->ctls; ctl < end && ctl->ent != ent; ctl++)
			;
	if (ctl == end)
		return NULL;
	last = ctl;
	return ctl;
}

/* A former call of a probe function (jf-sdt), as it is in the file. */
static jf_insn_t probe_off(const struct jf_site *site)
{
	if (site->flags & JF_SITE_TAIL)
		return jf_insn_ret();
	return site->flags & JF_SITE_TEST ? jf_insn_mov0() : jf_insn_nop();
}

/* A branch that leads to no test. */
static int compiled(const struct jf_site *s, jf_insn_t *insn)
{
	if (s->flags & JF_SITE_PROBE) {
		*insn = probe_off(s);
		return 0;
	}
	if (!!(s->flags & JF_SITE_ON) != !!(s->flags & JF_SITE_BRANCH_INV))
		return jf_insn_jmp(insn, s->addr, s->label);
	*insn = jf_insn_nop();
	return 0;
}

static bool is_branch(const struct jf_mod *m, const struct jf_site *s)
{
	return s->flags & JF_SITE_BRANCH && s->ctl->ent->type == JF_ENT_KEY &&
	       in_text(m, s->addr, JF_INSN_SIZE) && in_text(m, s->label, 1);
}

static void fill(struct jf_site *s, const struct jf_site_rec *rec, struct jf_ctl *ctl)
{
	s->addr = at(&rec->addr);
	s->label = at(&rec->label);
	s->flags = rec->flags;
	s->ctl = ctl;
}

/* --- those that are entered when the object is loaded ----------------------------- */

static bool is_site(const struct jf_mod *m, const struct jf_site *s)
{
	uint64_t to = 0;
	enum jf_insn_kind kind = jf_insn_decode(s->compiled, s->addr, &to);
	jf_insn_t insn;

	if (!in_text(m, s->label, 1))
		return false;
	if (s->flags & JF_SITE_TRAMP)
		return s->ctl->ent->type == JF_ENT_FUNC && kind == TRAMPOLINE_KIND &&
		       to == s->addr + JF_INSN_SIZE && s->label == to;
	if (s->flags & JF_SITE_CALL)
		return s->ctl->ent->type == JF_ENT_FUNC && to == s->label;
	if (!is_branch(m, s))
		return false;
	if (s->flags & JF_SITE_TESTED)
		return kind == JF_INSN_JMP;
	return !compiled(s, &insn) && insn == s->compiled;
}

static int add_site(struct jf_mod *m, const struct jf_site_rec *rec)
{
	struct jf_site *s = &m->sites[m->num_sites];
	struct jf_ctl *ctl = ctl_of(m, rec);

	if (!ctl || !in_text(m, at(&rec->addr), JF_INSN_SIZE))
		return bad(m, "a site is of nothing that this object has");
	fill(s, rec, ctl);
	if (s->flags & JF_SITE_CALL) {
		s->addr = jf_call_find(s->addr, s->label, m->text, m->text_end);
		if (!s->addr) {
			jf_stats.trampolined++;
			return 0;
		}
	}
	s->compiled = jf_insn_load((const void *)s->addr);
	atomic_init(&s->insn, s->compiled);
	if (!is_site(m, s)) {
		jf_say(false, "%s: at %#lx is no site of %s; nothing is patched",
		       m->name, (unsigned long)s->addr, ctl->ent->name);
		return -EINVAL;
	}
	m->tested |= s->flags & JF_SITE_TESTED;
	m->num_sites++;
	return 0;
}

static int add_list(struct jf_mod *m, const struct jf_site_rec *rec, const struct jf_site_rec *end)
{
	int err = 0;

	for (; rec < end && !err; rec++)
		err = add_site(m, rec);
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct jf_site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int sort_sites(struct jf_mod *m)
{
	size_t i;

	for (i = 1; i < m->num_sites; i++)
		if (m->sites[i].addr < m->sites[i - 1].addr)
			return jf_sort(m->sites, m->num_sites, sizeof(*m->sites), by_address);
	return 0;
}

static bool is_equal(const struct jf_site *a, const struct jf_site *b)
{
	/*
	 * A former call of a probe has code to lead to in each object file, which does the same in
	 * all.
	 */
	return (a->label == b->label || a->flags & JF_SITE_PROBE) && a->ctl == b->ctl && a->flags == b->flags;
}

/*
 * Of functions that are the same, a linker may keep one, with the records of all. Where
 * the other side of a branch is, and of which key it is, may differ even so, if it is
 * somewhere else, or is not tested: one that leads to a test is right for all of them as
 * compiled. False: sites overlap that are not the same.
 */
static bool drop_equal(struct jf_site *sites, size_t *nr)
{
	size_t i, next, num = 0;

	for (i = 0; i < *nr; i = next) {
		const struct jf_site *s = &sites[i], *t = s + 1;
		bool equal = true, tested = s->flags & JF_SITE_TESTED;

		for (next = i + 1; next < *nr && t->addr == s->addr; next++, t++) {
			equal &= is_equal(s, t);
			tested &= !!(t->flags & JF_SITE_TESTED);
		}
		if ((next < *nr && t->addr - s->addr < JF_INSN_SIZE) ||
		    (!equal && !tested))
			return false;
		if (equal)
			sites[num++] = *s;
	}
	*nr = num;
	return true;
}

static size_t length(const struct jf_site_rec *first, const struct jf_site_rec *end)
{
	return (size_t)(end - first);
}

int jf_sites_now(struct jf_mod *m)
{
	const struct jf_object *o = m->object;
	size_t later = length(o->sites, o->sites_end) + length(o->on, o->on_end), i;
	int err;

	m->all = jf_options()->int3;
	m->num_later = m->all ? 0 : later;
	m->sites = jf_zalloc((length(o->now, o->now_end) + (m->all ? later : 0) + 1) *
			     sizeof(*m->sites));
	if (!m->sites)
		return -ENOMEM;
	err = add_list(m, o->now, o->now_end);
	if (!err && m->all)
		err = add_list(m, o->sites, o->sites_end);
	if (!err && m->all)
		err = add_list(m, o->on, o->on_end);
	if (!err)
		err = sort_sites(m);
	if (!err && !drop_equal(m->sites, &m->num_sites))
		err = bad(m, "two sites overlap");
	if (err)
		return err;
	/* Backwards, so that each list ascends. */
	for (i = m->num_sites; i--;) {
		m->sites[i].next = m->sites[i].ctl->sites;
		m->sites[i].ctl->sites = &m->sites[i];
		m->sites[i].ctl->num_sites++;
	}
	return 0;
}

static bool starts_on(const struct jf_ctl *ctl)
{
	return ctl->ent->flags & JF_ENT_ON;
}

static void mark_odd(struct jf_mod *m, const struct jf_site_rec *rec,
		     const struct jf_site_rec *end)
{
	for (; rec < end; rec++) {
		struct jf_ctl *ctl = rec->flags & JF_SITE_BRANCH ? ctl_of(m, rec) : NULL;

		if (ctl && !!(rec->flags & JF_SITE_ON) != starts_on(ctl))
			ctl->odd = true;
	}
}

void jf_sites_odd(struct jf_mod *m)
{
	bool on = false;
	size_t i;

	for (i = 0; i < m->num_ctls; i++)
		on |= starts_on(&m->ctls[i]);
	if (on)
		mark_odd(m, m->object->sites, m->object->sites_end);
	mark_odd(m, m->object->on, m->object->on_end);
}

/* --- those that are entered when their key changes ---------------------------------- */

/**
 * struct place - a record, while they are put in order
 * @addr: its site
 * @rec:  which one it is of jf_object.sites, or after these of jf_object.on
 * @ctl:  which one of jf_mod.ctls
 */
struct place {
	uintptr_t	addr;
	uint32_t	rec;
	uint32_t	ctl;
};

static const struct jf_site_rec *record(const struct jf_mod *m, uint32_t nr)
{
	const struct jf_object *o = m->object;
	size_t num = length(o->sites, o->sites_end);

	return nr < num ? o->sites + nr : o->on + (nr - num);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int find_places(struct jf_mod *m, struct place *p, size_t num, size_t *found)
{
	bool sorted = true;
	size_t i, n = 0;

	for (i = 0; i < num; i++) {
		const struct jf_site_rec *rec = record(m, (uint32_t)i);
		struct jf_site s = { .flags = rec->flags };

		if (rec->flags & JF_SITE_CALL)
			continue;
		s.ctl = ctl_of(m, rec);
		if (s.ctl)
			fill(&s, rec, s.ctl);
		if (!s.ctl || !is_branch(m, &s))
			return bad(m, "a site is of nothing that this object has");
		p[n].addr = s.addr;
		p[n].rec = (uint32_t)i;
		p[n].ctl = (uint32_t)(s.ctl - m->ctls);
		sorted &= !n || p[n - 1].addr <= s.addr;
		n++;
	}
	*found = n;
	return sorted ? 0 : jf_sort(p, n, sizeof(*p), by_place);
}

/* As drop_equal(); none of these leads to a test. */
static int drop_places(struct jf_mod *m, struct place *p, size_t *num)
{
	size_t i, n = 0;

	for (i = 0; i < *num; i++) {
		struct jf_site a, b;

		if (n && p[i].addr - p[n - 1].addr < JF_INSN_SIZE) {
			fill(&a, record(m, p[i].rec), &m->ctls[p[i].ctl]);
			fill(&b, record(m, p[n - 1].rec), &m->ctls[p[n - 1].ctl]);
			if (a.addr != b.addr || !is_equal(&a, &b))
				return bad(m, "two sites overlap");
			continue;
		}
		p[n++] = p[i];
	}
	*num = n;
	return 0;
}

static void order_places(struct jf_mod *m, const struct place *p, size_t num)
{
	uint32_t first = 0;
	size_t i;

	for (i = 0; i < num; i++)
		m->ctls[p[i].ctl].num_later++;
	for (i = 0; i < m->num_ctls; i++) {
		m->ctls[i].first = first;
		first += m->ctls[i].num_later;
		m->ctls[i].num_later = 0;
	}
	for (i = 0; i < num; i++) {
		struct jf_ctl *ctl = &m->ctls[p[i].ctl];

		m->order[ctl->first + ctl->num_later++] = p[i].rec;
	}
}

static int put_in_order(struct jf_mod *m)
{
	const struct jf_object *o = m->object;
	size_t num = length(o->sites, o->sites_end) + length(o->on, o->on_end), found = 0;
	struct place *p = num < UINT32_MAX ? jf_alloc((num + 1) * sizeof(*p)) : NULL;
	int err = p ? find_places(m, p, num, &found) : -ENOMEM;
	size_t all = found;

	if (!err)
		err = drop_places(m, p, &found);
	if (!err) {
		m->order = jf_alloc((found + 1) * sizeof(*m->order));
		err = m->order ? 0 : -ENOMEM;
	}
	if (!err) {
		order_places(m, p, found);
		/* Once: without memory for the order all this is done again. */
		m->num_later -= all - found;
		jf_stats.sites -= all - found;
	}
	jf_free(p);
	/* Nothing of it can be changed, as of an object that is refused. */
	m->bad = err && err != -ENOMEM;
	return m->bad ? -ENODEV : err;
}

static int enter(struct jf_ctl *ctl)
{
	struct jf_site *s = jf_zalloc(ctl->num_later * sizeof(*s));
	uint32_t i;

	if (!s)
		return -ENOMEM;
	for (i = 0; i < ctl->num_later; i++) {
		fill(&s[i], record(ctl->mod, ctl->mod->order[ctl->first + i]), ctl);
		if (compiled(&s[i], &s[i].compiled)) {
			jf_free(s);
			return -ENODEV;
		}
		atomic_init(&s[i].insn, s[i].compiled);
		s[i].next = i + 1 < ctl->num_later ? &s[i + 1] : ctl->sites;
	}
	ctl->later = s;
	ctl->sites = s;
	return 0;
}

/* --- calls, which are entered when a dynamic function changes ------------------------- */

#ifdef __x86_64__
static size_t count_calls(const struct jf_mod *m, size_t num)
{
	size_t i, n = 0;

	for (i = 0; i < num; i++)
		n += !!(record(m, (uint32_t)i)->flags & JF_SITE_CALL);
	return n;
}

/* The search finds a call of the trampoline, or a jump there. */
static bool find_call(const struct jf_mod *m, const struct jf_site_rec *rec, struct jf_site *s)
{
	struct jf_ctl *ctl = ctl_of(m, rec);

	if (!ctl || ctl->ent->type != JF_ENT_FUNC || ctl->ent->flags & JF_ENT_TRACE ||
	    !in_text(m, at(&rec->addr), JF_INSN_SIZE) || !in_text(m, at(&rec->label), 1))
		return false;
	fill(s, rec, ctl);
	s->addr = jf_call_find(s->addr, s->label, m->text, m->text_end);
	if (!s->addr) {
		jf_stats.trampolined++;
		return false;
	}
	s->compiled = jf_insn_load((const void *)s->addr);
	atomic_init(&s->insn, s->compiled);
	return true;
}

static void link_calls(struct jf_mod *m)
{
	size_t i;

	for (i = m->num_calls; i--;) {
		m->calls[i].next = m->calls[i].ctl->sites;
		m->calls[i].ctl->sites = &m->calls[i];
	}
}

/* Those that are not entered go by the trampoline, which is right: so nothing fails. */
static void enter_calls(struct jf_mod *m)
{
	const struct jf_object *o = m->object;
	size_t num = length(o->sites, o->sites_end) + length(o->on, o->on_end);
	size_t max = num < UINT32_MAX ? count_calls(m, num) : 0, i, n = 0;

	m->calls = jf_zalloc((max + 1) * sizeof(*m->calls));
	if (!m->calls)
		return;
	for (i = 0; i < num && max; i++)
		if (record(m, (uint32_t)i)->flags & JF_SITE_CALL)
			n += find_call(m, record(m, (uint32_t)i), &m->calls[n]);
	if (jf_sort(m->calls, n, sizeof(*m->calls), by_address) || !drop_equal(m->calls, &n)) {
		jf_stats.trampolined += n;
		n = 0;
	}
	m->num_calls = n;
	link_calls(m);
}
#else
/* An instruction that is a trampoline's jump is aligned, and changes by one store. */
static void enter_calls(struct jf_mod *m)
{
	(void)m;
}
#endif

int jf_sites_of(struct jf_ctl *ctl)
{
	struct jf_mod *m = ctl->mod;
	int err = 0;

	if (!m->all && !m->calls && ctl->ent->type == JF_ENT_FUNC)
		enter_calls(m);
	if (m->all || ctl->ent->type != JF_ENT_KEY || ctl->later)
		return 0;
	if (m->bad)
		return -ENODEV;
	if (!m->order)
		err = put_in_order(m);
	if (!err && ctl->num_later)
		err = enter(ctl);
	return err;
}

static int by_poke(const void *a, const void *b)
{
	uintptr_t x = ((const struct jf_poke *)a)->addr;
	uintptr_t y = ((const struct jf_poke *)b)->addr;

	return x < y ? -1 : x > y;
}

int jf_pokes_sort(struct jf_poke *pokes, size_t num)
{
	size_t i;

	/* Those of one entity are in order. */
	for (i = 1; i < num; i++)
		if (pokes[i].addr < pokes[i - 1].addr)
			return jf_sort(pokes, num, sizeof(*pokes), by_poke);
	return 0;
}

size_t jf_sites_num(struct jf_ctl *ctl)
{
	struct jf_mod *m = ctl->mod;

	if (!m->all && !m->bad && !m->order && m->num_later && ctl->ent->type == JF_ENT_KEY)
		put_in_order(m);
	return ctl->num_sites + ctl->num_later;
}

/* --- where there are sites, entered or not ------------------------------------------- */

static size_t put_all(uintptr_t *to, const struct jf_site_rec *rec, const struct jf_site_rec *end)
{
	size_t n = 0;

	for (; rec < end; rec++)
		to[n++] = at(&rec->addr);
	return n;
}

static int by_number(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Each address that a record has, and those that were found: a call's record says where the search
 * for it begins. Made when it is first asked for, which only agents do.
 */
static int note_starts(struct jf_mod *m)
{
	const struct jf_object *o = m->object;
	size_t max = m->num_sites + length(o->now, o->now_end) + length(o->sites, o->sites_end) +
		     length(o->on, o->on_end), n, i;
	uintptr_t *p = jf_alloc((max + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	n = put_all(p, o->now, o->now_end);
	n += put_all(p + n, o->sites, o->sites_end);
	n += put_all(p + n, o->on, o->on_end);
	for (i = 0; i < m->num_sites; i++)
		p[n++] = m->sites[i].addr;
	if (jf_sort(p, n, sizeof(*p), by_number)) {
		jf_free(p);
		return -ENOMEM;
	}
	m->starts = p;
	m->num_starts = n;
	return 0;
}

/* The first call that ends after @from is in front of @to. */
static bool call_in(const struct jf_mod *m, uintptr_t from, uintptr_t to)
{
	size_t low = 0, high = m->num_calls;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->calls[mid].addr + JF_INSN_SIZE > from)
			high = mid;
		else
			low = mid + 1;
	}
	return low < m->num_calls && m->calls[low].addr < to;
}

int jf_sites_in(uintptr_t from, uintptr_t to)
{
	struct jf_mod *m = jf_mod_of(from);
	size_t low = 0, high;

	if (!m)
		return 0;
	if (!m->starts && note_starts(m))
		return -ENOMEM;
	if (call_in(m, from, to))
		return -EBUSY;
	/* The first one that ends after @from. */
	for (high = m->num_starts; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (m->starts[mid] + JF_INSN_SIZE > from)
			high = mid;
		else
			low = mid + 1;
	}
	return low < m->num_starts && m->starts[low] < to ? -EBUSY : 0;
}

void jf_sites_free(struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls; i++)
		jf_free(m->ctls[i].later);
	jf_free(m->calls);
	jf_free(m->order);
	jf_free(m->starts);
	jf_free(m->sites);
}
