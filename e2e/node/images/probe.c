/*
 * Sends and answers single packets.
 *
 * probe serve tcp:8080 udp:53 ...          answers everything with "HOSTNAME sees ADDRESS"
 * probe tcp|udp ADDRESS PORT [MS [FROM]]   prints the answer, or refused, timeout or an error
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void stop(int s)
{
	(void)s;
	_exit(0);
}

static struct sockaddr_in at(const char *ip, const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

static int serve(int n, char **spec)
{
	struct pollfd p[64];
	int udp[64], on = 1;
	char host[64] = "", buf[256];

	signal(SIGTERM, stop);
	signal(SIGPIPE, SIG_IGN);
	gethostname(host, sizeof host - 1);
	for (int i = 0; i < n; i++) {
		struct sockaddr_in a = at("0.0.0.0", spec[i] + 4);

		udp[i] = spec[i][0] == 'u';
		p[i].fd = socket(AF_INET, udp[i] ? SOCK_DGRAM : SOCK_STREAM, 0);
		p[i].events = POLLIN;
		setsockopt(p[i].fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (udp[i])
			setsockopt(p[i].fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
		if (bind(p[i].fd, (void *)&a, sizeof a) || (!udp[i] && listen(p[i].fd, 64))) {
			perror(spec[i]);
			return 1;
		}
	}
	while (poll(p, n, -1) > 0)
		for (int i = 0; i < n; i++) {
			struct sockaddr_in a;
			socklen_t l = sizeof a;
			char control[256];
			struct iovec v = {buf, sizeof buf};
			/* the control data holds the address that was asked, so the answer comes from there */
			struct msghdr m = {.msg_name = &a, .msg_namelen = l, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
			int c = -1;

			if (!p[i].revents)
				continue;
			if (udp[i] ? recvmsg(p[i].fd, &m, 0) < 0 : (c = accept(p[i].fd, (void *)&a, &l)) < 0)
				continue;
			v.iov_len = snprintf(buf, sizeof buf, "%s sees %s\n", host, inet_ntoa(a.sin_addr));
			if (udp[i])
				sendmsg(p[i].fd, &m, 0);
			else if (write(c, buf, v.iov_len) < 0)
				perror("write");
			if (c >= 0)
				close(c);
		}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "serve"))
		return argc - 2 > 64 ? 2 : serve(argc - 2, argv + 2);
	if (argc < 4)
		return 2;

	int wait = argc > 4 ? atoi(argv[4]) : 1500, udp = argv[1][0] == 'u', n = -1, error = 0;
	struct sockaddr_in a = at(argv[2], argv[3]);
	socklen_t l = sizeof error;
	struct pollfd p = {.fd = socket(AF_INET, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0), .events = udp ? POLLIN : POLLOUT};
	char buf[256];

	if (argc > 5) {
		struct sockaddr_in from = at(argv[5], "0");

		if (bind(p.fd, (void *)&from, sizeof from)) {
			perror(argv[5]);
			return 2;
		}
	}
	if (connect(p.fd, (void *)&a, sizeof a) && errno != EINPROGRESS)
		error = errno;
	else if (udp && send(p.fd, "?", 1, 0) < 0)
		error = errno;
	else if (poll(&p, 1, wait) == 0)
		error = ETIMEDOUT;
	else if (getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &l) == 0 && !error) {
		p.events = POLLIN;
		if (poll(&p, 1, wait) == 0)
			error = ETIMEDOUT;
		else if ((n = read(p.fd, buf, sizeof buf)) < 0)
			error = errno;
	}
	if (!error && n > 0)
		return fwrite(buf, 1, n, stdout) < 1;
	puts(error == ECONNREFUSED ? "refused" : error == ETIMEDOUT ? "timeout" : error ? strerror(error) : "closed");
	return 1;
}
