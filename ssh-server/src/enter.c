#include "enter.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_CAP_AMBIENT
#error "Linux 4.3 or newer headers are needed"
#endif

static bool change_root(const struct workload *workload)
{
	if (fchdir(workload->root) || chroot(".") || chdir("/"))
		return false;
	/* A folder that was removed is no reason to keep somebody out. */
	if (workload->cwd >= 0)
		(void)!fchdir(workload->cwd);
	return true;
}

static bool bound(uint64_t bounding)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		bool held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
		if (held && !(bounding >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return false;
	}
	return true;
}

static bool change_user(const struct rights *rights)
{
	/* Permitted capabilities are to survive until they are set, below, to what they must be. */
	return !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) && !setgroups(rights->groups_len, rights->groups) &&
	       !setresgid(rights->gid, rights->gid, rights->gid) &&
	       !setresuid(rights->uid, rights->uid, rights->uid);
}

static bool set_capabilities(const struct rights *rights)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct sets[2];

	for (int half = 0; half < 2; half++)
		sets[half] = (struct __user_cap_data_struct){
			.effective = rights->effective >> 32 * half,
			.permitted = rights->permitted >> 32 * half,
			.inheritable = rights->inheritable >> 32 * half,
		};
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || syscall(SYS_capset, &header, sets))
		return false;
	for (unsigned long cap = 0; cap < 64; cap++)
		if (rights->ambient >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			return false;
	return true;
}

bool enter(const struct workload *workload)
{
	const struct rights *rights = &workload->rights;

	umask(rights->umask);
	return change_root(workload) && bound(rights->bounding) && change_user(rights) &&
	       set_capabilities(rights) &&
	       (!rights->no_new_privs || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}
