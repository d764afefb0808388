/* The first process of a node and of each Pod: it buries orphans and leaves when told to. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t orders;
	int order;

	sigemptyset(&orders);
	sigaddset(&orders, SIGTERM);
	sigaddset(&orders, SIGINT);
	sigaddset(&orders, SIGCHLD);
	sigprocmask(SIG_BLOCK, &orders, NULL);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (sigwait(&orders, &order) == 0 && order != SIGCHLD)
			return 0;
	}
}
