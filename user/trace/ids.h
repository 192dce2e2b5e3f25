/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Events in a metadata text, as metadata.c writes them.
 *
 * API:
 *   jf_id_parse(text, &id)			reads "id = 12;", after any space
 *   jf_event_next(text, &name, &len, &id)	the next event
 *   jf_piece_next(text)			the next event or structure of fields
 *   jf_struct_number(text)			of the structure whose name is there
 *   jf_fields_number(text)			of the structure with the fields of an event
 *
 * Metadata can have many megabytes: all look at no more than they need. sscanf() seeks the end of
 * its text first.
 */
#ifndef JF_IDS_H
#define JF_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* False: the text does not begin so. */
static inline bool jf_id_parse(const char *text, unsigned int *id)
{
	unsigned int digits;

	text += strspn(text, " \t\n");
	if (strncmp(text, "id = ", 5))
		return false;
	text += 5;
	text += strspn(text, " ");
	*id = 0;
	for (digits = 0; digits < 9 && *text >= '0' && *text <= '9'; digits++)
		*id = *id * 10 + (unsigned int)(*text++ - '0');
	return digits && *text == ';';
}

/*
 * NULL: no event follows. *name and *len: its name, which is a part of the text. Return: the end of
 * that line, from which the next event is sought.
 */
static inline const char *jf_event_next(const char *text, const char **name, size_t *len, unsigned int *id)
{
	static const char begin[] = "\nevent {\n\tname = \"";
	const char *end;

	while ((text = strstr(text, begin))) {
		*name = text += sizeof(begin) - 1;
		end = strchr(text, '\n');
		if (!end)
			return NULL;
		*len = (size_t)(end - text);
		if (*len >= 2 && !strncmp(end - 2, "\";", 2) && jf_id_parse(end, id)) {
			*len -= 2;
			return end;
		}
	}
	return NULL;
}

#define JF_EVENT_BEGIN	"event {\n\tname = \""
#define JF_STRUCT_BEGIN	"struct jf_fields_"

/* NULL: none follows. There is a line between each two. */
static inline const char *jf_piece_next(const char *text)
{
	while ((text = strstr(text, "\n\n"))) {
		text += strspn(text, "\n");
		if (!strncmp(text, JF_EVENT_BEGIN, sizeof(JF_EVENT_BEGIN) - 1) || !strncmp(text, JF_STRUCT_BEGIN, sizeof(JF_STRUCT_BEGIN) - 1))
			return text;
	}
	return NULL;
}

/* 0: the text does not begin so. */
static inline unsigned int jf_struct_number(const char *text)
{
	unsigned int number = 0, digits;

	if (strncmp(text, JF_STRUCT_BEGIN, sizeof(JF_STRUCT_BEGIN) - 1))
		return 0;
	text += sizeof(JF_STRUCT_BEGIN) - 1;
	for (digits = 0; digits < 9 && *text >= '0' && *text <= '9'; digits++)
		number = number * 10 + (unsigned int)(*text++ - '0');
	return number;
}

/* 0: the event has its fields itself. */
static inline unsigned int jf_fields_number(const char *text)
{
	static const char fields[] = "\tfields := ";

	while (text && strncmp(text, fields, sizeof(fields) - 1) && *text != '}' && *text) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text && *text == '\t' ? jf_struct_number(text + sizeof(fields) - 1) : 0;
}

#endif /* JF_IDS_H */
