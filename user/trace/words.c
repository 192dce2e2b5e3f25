// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Messages of the control socket (control.h): pure functions, for the process, the tool and a
 * fuzzer. The input was written by another process, and nothing of it is believed.
 */
#include "trace.h"
#include "choice.h"
#include "control.h"

#include <stdlib.h>
#include <string.h>

const char *const jf_mode_names[] = { "overwrite", "discard", "keep", "count", NULL };
const char *const jf_clock_names[] = { "auto", "tsc", "monotonic", "none", NULL };

int jf_words_split(struct jf_words *words, const char *data, size_t size)
{
	const char *end = data + size;

	words->num = 0;
	if (!size || size > JF_CONTROL_MAX || data[size - 1])
		return -EPROTO;
	for (; data < end; data += strlen(data) + 1) {
		if (words->num == JF_CONTROL_WORDS)
			return -EPROTO;
		words->word[words->num++] = data;
	}
	return 0;
}

void jf_words_add(struct jf_message *message, const char *word)
{
	size_t len = word ? strlen(word) : 0, room = sizeof(message->data) - message->size;

	if (!room) {
		message->full = true;
		return;
	}
	if (len >= room) {
		message->full = true;
		len = room - 1;
	}
	if (len)
		memcpy(message->data + message->size, word, len);
	message->size += len;
	message->data[message->size++] = 0;
}

bool jf_number_parse(const char *text, uint32_t *val)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 0);
	if (errno || *end || !n || n > UINT32_MAX)
		return false;
	*val = (uint32_t)n;
	return true;
}

int jf_name_find(const char *const *names, const char *text)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	return -1;
}

/* "key=value" */
static const char *value_of(const char *word, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] == '=' ? word + len + 1 : NULL;
}

static bool parse_option(struct jf_record_options *o, const char *word)
{
	const char *v;
	int n;

	v = value_of(word, "parent");
	if (v) {
		o->parent = v;
		return *v == '/' && strlen(v) < PATH_MAX;
	}
	v = value_of(word, "mode");
	if (v) {
		n = jf_name_find(jf_mode_names, v);
		o->mode = n < 0 ? JF_RECORD_OVERWRITE : (enum jf_record_mode)n;
		return n >= 0;
	}
	v = value_of(word, "clock");
	if (v) {
		n = jf_name_find(jf_clock_names, v);
		o->clock = n < 0 ? JF_RECORD_CLOCK_AUTO : (enum jf_record_clock)n;
		return n >= 0;
	}
	v = value_of(word, "packets");
	if (v)
		return jf_number_parse(v, &o->packets);
	v = value_of(word, "packet_size");
	if (v)
		return jf_number_parse(v, &o->packet_size);
	v = value_of(word, "max_mib");
	if (v)
		return jf_number_parse(v, &o->max_mib);
	v = value_of(word, "rings");
	return v && jf_number_parse(v, &o->rings);
}

int jf_request_parse(struct jf_request *request, const char *data, size_t size)
{
	static const struct {
		const char	*name;
		unsigned int	min;
		unsigned int	max;
	} commands[JF_COMMANDS] = {
		[JF_COMMAND_LIST]	= { "list", 0, 1 },
		[JF_COMMAND_ENABLE]	= { "enable", 1, 2 },
		[JF_COMMAND_DISABLE]	= { "disable", 1, 2 },
		[JF_COMMAND_RECORD]	= { "record", 0, 7 },
		[JF_COMMAND_STATS]	= { "stats", 0, 0 },
		[JF_COMMAND_STOP]	= { "stop", 0, 0 },
	};
	struct jf_words w;
	unsigned int c, i;
	int err;

	memset(request, 0, sizeof(*request));
	err = jf_words_split(&w, data, size);
	if (err)
		return err;
	/* There is a first word, but gcc 14 cannot tell. */
	if (!w.num || strcmp(w.word[0], JF_CONTROL_VERSION))
		return -EPROTONOSUPPORT;
	for (c = 0; w.num > 1 && c < JF_COMMANDS && strcmp(commands[c].name, w.word[1]); c++)
		;
	if (w.num < 2 || c == JF_COMMANDS)
		return -ENOSYS;
	request->command = (enum jf_command)c;
	if (w.num - 2 < commands[c].min || w.num - 2 > commands[c].max)
		return -EINVAL;
	if (c == JF_COMMAND_RECORD) {
		for (i = 2; i < w.num; i++)
			if (!parse_option(&request->options, w.word[i]))
				return -EINVAL;
	} else if (w.num > 2) {
		request->glob = w.word[2];
		request->stops = w.num == 4;
		if (!*request->glob || strlen(request->glob) >= JF_GLOB_MAX + JF_CHOICE_MAX ||
		    (request->stops && strcmp(w.word[3], JF_CONTROL_STOPS)))
			return -EINVAL;
	}
	return 0;
}
