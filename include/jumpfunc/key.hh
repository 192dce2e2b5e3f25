/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * C++: a key that is enabled as long as it has a user.
 *
 * API:
 *   jumpfunc::key_user user(key)	one user of the key, until the end of the block
 *
 * Example:
 *   DEFINE_JF_KEY_FALSE(debug_on);
 *
 *   {
 *           jumpfunc::key_user debug(debug_on);	// jf_key_inc()
 *           ...
 *   }						// jf_key_dec()
 *
 * If the key cannot be enabled the constructor throws std::system_error, also with
 * -EIO, and has added no user. The destructor cannot throw: if the key cannot be
 * disabled, it stays enabled.
 */
#ifndef JUMPFUNC_KEY_HH
#define JUMPFUNC_KEY_HH

#include <cerrno>
#include <system_error>
#include <utility>

#include <jumpfunc/branch.h>

namespace jumpfunc {

class key_user {
public:
	explicit key_user(struct jf_key &key) : key_(&key)
	{
		int err = jf_key_inc(&key);

		/* All values count as set, and the destructor will not be called. */
		if (err == -EIO)
			(void)!jf_key_dec(&key);
		if (err)
			throw std::system_error(-err, std::generic_category(), key.ent.name);
	}
	key_user(key_user &&other) noexcept : key_(std::exchange(other.key_, nullptr))
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
		/* A destructor has no caller to return an error to. */
		if (key_)
			(void)!jf_key_dec(key_);
	}

private:
	struct jf_key *key_;
};

}

#endif /* JUMPFUNC_KEY_HH */
