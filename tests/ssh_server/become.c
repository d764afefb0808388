/*
 * What a container runtime does last, for the containers of the tests.
 *
 *   become UID GID GROUP,... BOUNDING AMBIENT NO_NEW_PRIVS FOLDER ENVIRONMENT PROGRAM [ARGUMENT ...]
 *
 * Sets are hexadecimal; ENVIRONMENT is a file with a NUL behind each entry.
 */
#include <err.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void capabilities(uint64_t held, uint64_t inheritable)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct sets[2] = {
		{held, held, inheritable},
		{held >> 32, held >> 32, inheritable >> 32},
	};

	if (syscall(SYS_capset, &header, sets))
		err(1, "capset");
}

int main(int argc, char **argv)
{
	static char block[1 << 20];
	static char *entries[4096];
	gid_t groups[64];
	int len = 0, at = 0, file;

	if (argc < 10)
		errx(1, "arguments are missing");
	uid_t uid = atoi(argv[1]);
	gid_t gid = atoi(argv[2]);
	uint64_t bounding = strtoull(argv[4], NULL, 16), ambient = strtoull(argv[5], NULL, 16);
	for (char *group = strtok(argv[3], ","); group; group = strtok(NULL, ","))
		groups[len++] = atoi(group);

	if ((file = open(argv[8], O_RDONLY)) < 0)
		err(1, "%s", argv[8]);
	ssize_t size = read(file, block, sizeof block - 1);
	close(file);
	for (char *entry = block; entry < block + size; entry += strlen(entry) + 1)
		entries[at++] = entry;

	umount2("/.old", MNT_DETACH);
	rmdir("/.old");
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(bounding >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			err(1, "bounding");
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(len, groups) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		err(1, "user");
	capabilities(uid ? ambient : bounding, ambient);
	for (unsigned long cap = 0; cap < 64; cap++)
		if (ambient >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			err(1, "ambient");
	if (atoi(argv[6]) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err(1, "no_new_privs");
	if (chdir(argv[7]))
		err(1, "%s", argv[7]);
	execve(argv[9], argv + 9, entries);
	err(1, "%s", argv[9]);
}
