#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct environment *in, char *entry)
{
	if (in->len + 1 >= in->room) {
		in->room = in->room ? 2 * in->room : 64;
		in->entries = realloc(in->entries, in->room * sizeof *in->entries);
		if (!in->entries)
			abort();
	}
	in->entries[in->len++] = entry;
	in->entries[in->len] = NULL;
}

void environment_from(struct environment *out, char *block, size_t len)
{
	for (char *at = block; at < block + len; at += strlen(at) + 1)
		append(out, at);
}

static char **find(const struct environment *in, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < in->len; i++)
		if (!strncmp(in->entries[i], name, len) && in->entries[i][len] == '=')
			return &in->entries[i];
	return NULL;
}

const char *environment_get(const struct environment *in, const char *name)
{
	char **entry = find(in, name);

	return entry ? *entry + strlen(name) + 1 : NULL;
}

void environment_set(struct environment *in, const char *name, const char *value)
{
	char **old = find(in, name), *entry;

	if (asprintf(&entry, "%s=%s", name, value) < 0)
		abort();
	if (old)
		*old = entry;
	else
		append(in, entry);
}

void environment_default(struct environment *in, const char *name, const char *value)
{
	if (value && !environment_get(in, name))
		environment_set(in, name, value);
}
