/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * libjumpfunc for C++17: what is switched on or begun ends with its object.
 *
 * API (namespace jumpfunc):
 *   key_user use(key);		counts as a user of the key while it lives
 *   batch b;			changes that take effect together
 *   b.set(key, true);
 *   dynfunc_batch_set(b.get(), name, func);
 *   b.commit();			or nothing happens
 *   read_section in;		jf_quiesce() waits for it
 *
 * Example:
 *   DEFINE_JF_KEY_FALSE(tracing);
 *
 *   void serve()
 *   {
 *           jumpfunc::key_user on(tracing);
 *           ...				// on in here, in all threads
 *   }
 *
 * Errors are thrown as std::system_error, whose code() is the error that the C
 * functions return; on an error nothing has changed. A destructor cannot throw:
 * where a key cannot be switched off (which has no cause but lack of memory), it
 * tries once more, and then leaves it on.
 */
#ifndef JUMPFUNC_HPP
#define JUMPFUNC_HPP

#ifndef __cplusplus
#error "for C++; C has the other headers"
#endif

#include <system_error>
#include <utility>

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

namespace jumpfunc {

inline void check(int err, const char *what)
{
	if (err < 0)
		throw std::system_error(-err, std::generic_category(), what);
}

class key_user {
public:
	explicit key_user(struct jf_key &key) : key_(&key)
	{
		check(jf_key_inc(key_), "jf_key_inc");
	}

	key_user(key_user &&other) noexcept
		: key_(std::exchange(other.key_, nullptr))
	{
	}

	key_user &operator=(key_user &&other) noexcept
	{
		std::swap(key_, other.key_);
		return *this;
	}

	key_user(const key_user &) = delete;
	key_user &operator=(const key_user &) = delete;

	~key_user()
	{
		if (key_ && jf_key_dec(key_))
			(void)jf_key_dec(key_);
	}

private:
	struct jf_key *key_;
};

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

	/* All of it, or std::system_error and nothing; empty again afterwards. */
	void commit()
	{
		int err = jf_batch_commit(&batch_);

		jf_batch_init(&batch_);
		check(err, "jf_batch_commit");
	}

	~batch()
	{
		jf_batch_abort(&batch_);
	}

private:
	struct jf_batch batch_;
};

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

#endif /* JUMPFUNC_HPP */
