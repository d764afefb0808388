#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

char *contents(int dir, const char *path, size_t *len)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t room = 4096, have = 0;
	char *text = fd < 0 ? NULL : malloc(room);
	ssize_t n = 0;

	while (text && (n = read(fd, text + have, room - have - 1)) > 0) {
		have += n;
		if (have + 1 < room)
			continue;
		char *more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	if (fd >= 0)
		close(fd);
	if (text && n < 0) {
		free(text);
		return NULL;
	}
	if (text)
		text[*len = have] = 0;
	return text;
}

static const char *field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? at + strlen(name) : "";
}

static void read_groups(const char *listed, struct rights *out)
{
	char *next;

	for (;;) {
		unsigned long gid = strtoul(listed, &next, 10);
		if (next == listed || strcspn(listed, "\n") < (size_t)(next - listed))
			return;
		gid_t *more = realloc(out->groups, (out->groups_len + 1) * sizeof *more);
		if (!more)
			return;
		out->groups = more;
		out->groups[out->groups_len++] = gid;
		listed = next;
	}
}

bool read_rights(int proc, struct rights *out)
{
	size_t len;
	char *status = contents(proc, "status", &len);

	memset(out, 0, sizeof *out);
	if (!status)
		return false;
	/* Real, effective, saved, file system: the second is what the process acts as. */
	bool whole = sscanf(field(status, "\nUid:"), "%*u %u", &out->uid) == 1 &&
		     sscanf(field(status, "\nGid:"), "%*u %u", &out->gid) == 1 &&
		     sscanf(field(status, "\nCapInh:"), "%" SCNx64, &out->inheritable) == 1 &&
		     sscanf(field(status, "\nCapPrm:"), "%" SCNx64, &out->permitted) == 1 &&
		     sscanf(field(status, "\nCapEff:"), "%" SCNx64, &out->effective) == 1 &&
		     sscanf(field(status, "\nCapBnd:"), "%" SCNx64, &out->bounding) == 1 &&
		     sscanf(field(status, "\nCapAmb:"), "%" SCNx64, &out->ambient) == 1;
	if (sscanf(field(status, "\nUmask:"), "%o", &out->umask) != 1)
		out->umask = 022;
	out->no_new_privs = strtoul(field(status, "\nNoNewPrivs:"), NULL, 10) != 0;
	read_groups(field(status, "\nGroups:"), out);
	free(status);
	return whole;
}

/* Leaving uid 0 takes capabilities out of the effective set, which the kernel compares: they are
 * put back, as far as they are ours. */
void look_as(uid_t uid, gid_t gid)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct sets[2];

	setfsgid(gid);
	setfsuid(uid);
	if (syscall(SYS_capget, &header, sets))
		return;
	for (int i = 0; i < 2; i++)
		sets[i].effective = sets[i].permitted;
	syscall(SYS_capset, &header, sets);
}

bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

struct origin read_origin(int proc)
{
	size_t len;
	char *text = contents(proc, "stat", &len), *at;
	struct origin origin = {-1, 0};

	/* Fields 4 and 22. The second one, the name, may hold anything but ends at the last ')'. */
	at = text ? strrchr(text, ')') : NULL;
	if (at)
		sscanf(at, ") %*c %d", &origin.parent);
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%llu", &origin.started);
	free(text);
	return origin;
}

int open_process(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void every_process(void (*each)(void *, pid_t, int), void *with)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		pid_t pid = strtol(entry->d_name, NULL, 10);
		int proc = pid > 0 ? openat(dirfd(all), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC)
				   : -1;
		if (proc < 0)
			continue;
		each(with, pid, proc);
		close(proc);
	}
	if (all)
		closedir(all);
}
