/* SPDX-License-Identifier: GPL-2.0 */
/* The common part of the test modules' files in debugfs. */
#ifndef TEST_FILES_H
#define TEST_FILES_H

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/*
 * The written text, in @buf, without white space around it; or an ERR_PTR. Takes
 * no memory: where allocations fail on purpose, only the tested code's own ones must fail.
 */
static inline char *test_command(char *buf, size_t size, const char __user *ubuf, size_t count)
{
	if (!count || count >= size)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(buf, ubuf, count))
		return ERR_PTR(-EFAULT);
	buf[count] = '\0';
	return strim(buf);
}

/* name_fops for a file that can only be written, by name_write(). */
#define TEST_WRITE_ONLY(name)						\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.write = name##_write,						\
	.llseek = noop_llseek,						\
}

/* name_fops for a file that takes a number, for name_number(). */
#define TEST_NUMBER(name)						\
static ssize_t name##_write(struct file *file, const char __user *buf, size_t len, loff_t *pos) \
{									\
	unsigned int n;							\
	int err = kstrtouint_from_user(buf, len, 0, &n) ?: name##_number(n); \
									\
	return err ?: len;						\
}									\
TEST_WRITE_ONLY(name)

/* do_fops for a file that takes commands of less than 48 letters, for do_command(). */
#define TEST_COMMANDS							\
static ssize_t do_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos) \
{									\
	char buf[48], *cmd = test_command(buf, sizeof(buf), ubuf, count); \
	int err = PTR_ERR_OR_ZERO(cmd) ?: do_command(cmd);		\
									\
	return err ?: count;						\
}									\
TEST_WRITE_ONLY(do)

#endif /* TEST_FILES_H */
