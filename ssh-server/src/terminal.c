#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

void copy_window(int to)
{
	struct winsize size;

	if (!ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		ioctl(to, TIOCSWINSZ, &size);
}

int open_terminal(int *theirs, char *name)
{
	int ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), unlocked = 0, number;
	struct termios modes;

	if (ours < 0)
		return -1;
	if (ioctl(ours, TIOCSPTLCK, &unlocked) || ioctl(ours, TIOCGPTN, &number) ||
	    (*theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		close(ours);
		return -1;
	}
	snprintf(name, 32, "/dev/pts/%d", number);
	/* What the client asked for becomes the program's; ours only passes bytes on. */
	if (!tcgetattr(STDIN_FILENO, &modes)) {
		tcsetattr(*theirs, TCSANOW, &modes);
		cfmakeraw(&modes);
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	}
	copy_window(ours);
	return ours;
}

bool fill(struct flow *flow)
{
	ssize_t n = read(flow->from, flow->held, sizeof flow->held);

	flow->at = 0;
	flow->len = n > 0 ? n : 0;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

bool drain(struct flow *flow)
{
	ssize_t n = write(flow->to, flow->held + flow->at, flow->len);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	flow->at += n;
	flow->len -= n;
	return true;
}
