/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * C++: batches that are forgotten or carried out, and read sections that end with
 * their block. key.hh has keys.
 *
 * API:
 *   jumpfunc::batch b		changes that take effect together
 *   b.set(key, true)
 *   dynfunc_batch_set(b.get(), name, func)
 *   b.commit()			all of it, or std::system_error and nothing
 *   jumpfunc::read_section in	jf_quiesce() waits for it, until the end of the block,
 *				which is on the same thread
 *
 * Example:
 *   jumpfunc::batch b;
 *
 *   b.set(fast, false).set(checked, true);
 *   dynfunc_batch_set(b.get(), lookup, checked_lookup);
 *   b.commit();
 *
 * A batch without commit() changes nothing. After it, whether it has thrown or
 * not, the batch is empty and can be used again.
 */
#ifndef JUMPFUNC_BATCH_HH
#define JUMPFUNC_BATCH_HH

#include <system_error>

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

namespace jumpfunc {

class batch {
public:
	batch() noexcept
	{
		jf_batch_init(&batch_);
	}

	batch(const batch &) = delete;
	batch &operator=(const batch &) = delete;

	/* An error is remembered, and commit() throws it. */
	batch &set(struct jf_key &key, bool on) noexcept
	{
		(void)jf_key_batch_set(&batch_, &key, on);
		return *this;
	}

	/* For dynfunc_batch_set(), which is a macro. */
	struct jf_batch *get() noexcept
	{
		return &batch_;
	}

	void commit()
	{
		int err = jf_batch_commit(&batch_);

		jf_batch_init(&batch_);
		if (err)
			throw std::system_error(-err, std::generic_category(),
						"jf_batch_commit");
	}

	~batch()
	{
		jf_batch_abort(&batch_);
	}

private:
	struct jf_batch batch_;
};

/*
 * It ends on the thread that began it: no co_await in its block, if another thread may
 * resume after it. See jf_read_lock().
 */
class read_section {
public:
	read_section() noexcept
	{
		jf_read_lock();
	}

	read_section(const read_section &) = delete;
	read_section &operator=(const read_section &) = delete;

	~read_section()
	{
		jf_read_unlock();
	}
};

} /* namespace jumpfunc */

#endif /* JUMPFUNC_BATCH_HH */
