#include "passwd.h"

#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[4096];

/* Cuts `line` at its colons; true where there are at least `wanted` parts. */
static bool cut(char **parts, int wanted)
{
	char *at = line;

	line[strcspn(line, "\r\n")] = 0;
	for (int i = 0; i < wanted; i++)
		if (!(parts[i] = strsep(&at, ":")))
			return false;
	return true;
}

/* The line of `path` whose part 0 is `name`, or, without a name, whose part 2 is `id`. */
static bool look_up(const char *path, const char *name, unsigned long id, char **parts, int wanted)
{
	FILE *file = fopen(path, "re");
	bool hit = false;

	while (file && !hit && fgets(line, sizeof line, file)) {
		char *end;
		if (!cut(parts, wanted))
			continue;
		hit = name ? !strcmp(parts[0], name) : strtoul(parts[2], &end, 10) == id && end != parts[2];
	}
	if (file)
		fclose(file);
	return hit;
}

static struct passwd *user(const char *name, uid_t uid)
{
	static struct passwd entry;
	char *parts[7];

	if (!look_up("/etc/passwd", name, uid, parts, 7))
		return NULL;
	entry = (struct passwd){
		.pw_name = parts[0],
		.pw_passwd = parts[1],
		.pw_uid = strtoul(parts[2], NULL, 10),
		.pw_gid = strtoul(parts[3], NULL, 10),
		.pw_gecos = parts[4],
		.pw_dir = parts[5],
		.pw_shell = parts[6],
	};
	return &entry;
}

struct passwd *passwd_of(uid_t uid)
{
	return user(NULL, uid);
}

#ifdef INSTEAD_OF_NSS
/* Linked into the sftp server under the names of the C library, which they stand in for. */
struct passwd *getpwuid(uid_t uid)
{
	return user(NULL, uid);
}

struct passwd *getpwnam(const char *name)
{
	return user(name, 0);
}

static struct group *group(const char *name, gid_t gid)
{
	static struct group entry;
	static char *nobody[] = {NULL};
	char *parts[3];

	if (!look_up("/etc/group", name, gid, parts, 3))
		return NULL;
	entry = (struct group){
		.gr_name = parts[0],
		.gr_passwd = parts[1],
		.gr_gid = strtoul(parts[2], NULL, 10),
		.gr_mem = nobody,
	};
	return &entry;
}

struct group *getgrgid(gid_t gid)
{
	return group(NULL, gid);
}

struct group *getgrnam(const char *name)
{
	return group(name, 0);
}
#endif
