/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How jf-trace talks with a process that records: the protocol, for both ends.
 *
 * The process listens on the socket "control-PID" (AF_UNIX, SOCK_SEQPACKET) in the first of these
 * folders that it can have for itself: $XDG_RUNTIME_DIR/jumpfunc, /run/user/UID/jumpfunc,
 * /tmp/jumpfunc-UID. Processes of another name space (pid_namespaces(7)) can have the same numbers
 * and folders. Outside of the first one it is "control-PID-INODE", with the inode of
 * /proc/self/ns/pid. The folder is made with mode 0700; where it is a link, another user's, or
 * others may enter it, it is not used. The peer must be of the same user, or root (SO_PEERCRED);
 * others are told EPERM. A process that can have none of the folders, as after chroot(), has the
 * abstract name "jumpfunc-control-PID", which takes no file (unix(7)).
 *
 * A connection is one request and its answer. Each message is one packet of at most JF_CONTROL_MAX
 * bytes: words, each of which ends with a 0 byte. Any other form is refused. The first word is
 * JF_CONTROL_VERSION.
 *
 *   request				effect
 *   list [GLOB]			"probe" for each probe that matches, or for all
 *   enable GLOB [stops]		jf_record_enable(), and the same of each provider
 *   disable GLOB [stops]		jf_record_disable(), and the same of each provider
 *   record [KEY=VALUE...]		jf_record_start(): parent (a path), mode, clock, packets,
 *				packet_size, rings, max_mib
 *   stats			"value" for each number of jf_record_stats(), folder, recording
 *   stop				jf_record_stop()
 *
 * A GLOB is a pattern, with the shortest duration and the choice of records (pattern.h, choice.h).
 *
 *   answer
 *   probe KIND GROUP NAME on|off DETAIL
 *   value NAME TEXT
 *   failed KIND ERRNO			one of several parts: events, or a provider's
 *   end ERRNO NUMBER		always the last one; how many probes matched, or 0
 *
 * A peer that has said "stops" can stop all threads of the process, by ptrace(). It is asked to do
 * so where text cannot be changed while they run, in the midst of the request:
 *   poke ADDRESS OLD NEW one|alone
 *	bytes to write, in hexadecimal, ascending; "alone": no thread can be in their midst
 *   stop ADDRESS NUMBER THREAD
 *	write the bytes of all pokes, or none, while no thread runs, if the 32 bits at ADDRESS are
 *	NUMBER then: else the process does not wait for it any more. THREAD is the thread pointer of
 *	the thread that waits; it is in the midst of none of these bytes, but has their addresses on
 *	its stack
 * and says, with the version before it:
 *   stopped ERRNO INDEX		0, or why not, and because of which poke
 *
 * With a request there can be descriptors (SCM_RIGHTS), for a process that has given up its rights
 * or its root: the first one is of the process's memory, the others are files of its objects that
 * it cannot open by their names. It has them as long as it carries the request out. Another version
 * leaves them.
 *
 * There is no command that copies a trace: its folder is the process's, jf_recover() reads it from
 * outside, and a snapshot costs the program nothing.
 *
 * API:
 *   jf_control_name(), jf_control_bare()	a socket's name, in a folder or without one
 *   jf_control_remove(), jf_control_sweep()	names of processes that have ended
 *   jf_words_split(), jf_words_add()	messages
 *   jf_request_parse()			the fields of a request; a pure function
 */
#ifndef JF_CONTROL_H
#define JF_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <jumpfunc/record.h>

#define JF_CONTROL_VERSION	"jf1"
#define JF_CONTROL_MAX		4096
#define JF_CONTROL_WORDS	9
/* As many as the kernel lets a message have. */
#define JF_CONTROL_FILES	253
#define JF_CONTROL_NAME		"control-"
#define JF_CONTROL_FOLDER	"jumpfunc"
#define JF_CONTROL_STOPS	"stops"
/* The name of a socket without a folder, after a first byte that is 0. */
#define JF_CONTROL_BARE		"jumpfunc-" JF_CONTROL_NAME
/* The thread that serves. */
#define JF_CONTROL_THREAD	"jf-control"
/* PROC_PID_INIT_INO of the kernel: the first name space of processes. */
#define JF_CONTROL_FIRST	0xeffffffcU
/* How long a process waits for "stopped", and how long its peer may try. */
#define JF_CONTROL_WAIT_MS	5000
#define JF_CONTROL_STOP_MS	1000

/**
 * struct jf_words - a message, taken apart
 * @num:  how many words
 * @word: they stand in the message
 */
struct jf_words {
	unsigned int	num;
	const char	*word[JF_CONTROL_WORDS];
};

/**
 * struct jf_message - one that is being written
 * @size: of @data, so far
 * @full: a word did not fit, and was cut
 * @data: words
 */
struct jf_message {
	size_t	size;
	bool	full;
	char	data[JF_CONTROL_MAX];
};

enum jf_command {
	JF_COMMAND_LIST,
	JF_COMMAND_ENABLE,
	JF_COMMAND_DISABLE,
	JF_COMMAND_RECORD,
	JF_COMMAND_STATS,
	JF_COMMAND_STOP,
	JF_COMMANDS
};

/**
 * struct jf_request - a request
 * @command: which of them
 * @glob:    of list (or NULL), enable, disable
 * @stops:   of enable, disable
 * @options: of record
 */
struct jf_request {
	enum jf_command			command;
	const char			*glob;
	bool				stops;
	struct jf_record_options	options;
};

/**
 * jf_words_split() - take a message apart
 * @words: is filled in
 * @data:  the message
 * @size:  its bytes
 *
 * Context: any.
 * Return: 0, or -EPROTO if it is empty or too long, does not end with a 0 byte, or has too many
 * words
 */
int jf_words_split(struct jf_words *words, const char *data, size_t size);

/**
 * jf_words_add() - add a word to a message
 * @message: begins as all zeros
 * @word:    NULL is an empty one
 *
 * What does not fit is cut, which @message->full says.
 */
void jf_words_add(struct jf_message *message, const char *word);

/**
 * jf_request_parse() - what does a request ask for
 * @request: is filled in; it points into @data
 * @data:    the message
 * @size:    its bytes
 *
 * Context: any.
 * Return: 0, -EPROTO if it is no message, -EPROTONOSUPPORT for another version, -ENOSYS for an
 * unknown command, -EINVAL for wrong arguments
 */
int jf_request_parse(struct jf_request *request, const char *data, size_t size);

/**
 * jf_number_parse() - a number of 1 to UINT32_MAX, and nothing else
 * @text: decimal, or with 0x
 * @val:  is filled in
 */
bool jf_number_parse(const char *text, uint32_t *val);

/* Of modes and clocks, in the order of their numbers; end with NULL. */
extern const char *const jf_mode_names[];
extern const char *const jf_clock_names[];

/* Which of @names, or -1. */
int jf_name_find(const char *const *names, const char *text);

/**
 * jf_control_name() - the name of a process's socket in its folder
 * @buf:  gets it
 * @size: of @buf
 * @pid:  number of the process in its own name space
 * @ns:   that name space, in /proc; one that cannot be looked at is taken for the first one
 *
 * Context: any.
 * Return: as snprintf()
 */
static inline int jf_control_name(char *buf, size_t size, int pid, const char *ns)
{
	struct stat st;

	if (stat(ns, &st) || st.st_ino == JF_CONTROL_FIRST)
		return snprintf(buf, size, JF_CONTROL_NAME "%d", pid);
	return snprintf(buf, size, JF_CONTROL_NAME "%d-%llu", pid, (unsigned long long)st.st_ino);
}

/**
 * jf_control_bare() - the address of a process that has no folder
 * @at:  gets it
 * @pid: number of the process in its own name space
 *
 * Context: any.
 * Return: its length
 */
static inline socklen_t jf_control_bare(struct sockaddr_un *at, int pid)
{
	int n;

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, JF_CONTROL_BARE "%d", pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/**
 * jf_control_remove() - remove the socket of a process that has ended
 * @folder: a descriptor of its folder
 * @name:   of the socket
 *
 * The name is exchanged before the last look at the socket: another process can have taken the
 * name, and then gets it back.
 *
 * Context: any. The folder belongs to this user.
 * Return: 0, -ENOENT, -EBUSY: a process listens, or it is no socket; or the error of the rename
 */
int jf_control_remove(int folder, const char *name);

/**
 * jf_control_sweep() - remove all sockets of processes that have ended
 * @folder: where they are
 *
 * Context: not in a signal handler. The time grows with the sockets in the folder.
 */
void jf_control_sweep(const char *folder);

#endif /* JF_CONTROL_H */
