/* check_floor - the least that HTTP health checks may cost: the system calls of one, and nothing else.
 *
 * usage: check_floor PORT CHECKS_PER_SECOND SECONDS     (127.0.0.1, one thread)
 *
 * Each 20 ms the checks that are due are sent at once; each takes a socket whose connection was
 * reset, connects, sends, waits with epoll, receives, resets. Prints the CPU time of a check in us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BEAT_S 0.02
#define MANY 1024

static const char request[] = "OPTIONS / HTTP/1.0\r\n\r\n";
static struct sockaddr_in to;
static int spares[MANY], spare_count, poller;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int fd = spare_count ? spares[--spare_count]
		: socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), zero = 0;
	int patience = 10000;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &zero, sizeof(zero));
	/* on this host the handshake is over when connect() returns, nearly always */
	connect(fd, (struct sockaddr *)&to, sizeof(to));
	while (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN || !--patience)
			fail("send");
		usleep(100);
	}
	ev.data.fd = fd;
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &ev);
}

static int finish(int fd)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	static char buffer[16384];
	struct epoll_event ev;

	if (recv(fd, buffer, sizeof(buffer), 0) <= 0)
		return 0;
	epoll_ctl(poller, EPOLL_CTL_DEL, fd, &ev);
	if (connect(fd, &nobody, sizeof(nobody)) < 0)
		fail("connect");
	spares[spare_count++] = fd;
	return 1;
}

static void beat(int count)
{
	struct epoll_event events[MANY];

	for (int i = 0; i < count; i++)
		begin();
	while (count > 0) {
		int n = epoll_wait(poller, events, MANY, 1000);

		if (n <= 0)
			fail("no answer");
		for (int i = 0; i < n; i++)
			count -= finish(events[i].data.fd);
	}
}

int main(int argc, char **argv)
{
	double next = seconds(CLOCK_MONOTONIC), end, used;
	int batch = argc == 4 ? (int)(atof(argv[2]) * BEAT_S + 0.5) : 0;
	long checks = 0;

	if (batch < 1 || batch > MANY) {
		fprintf(stderr, "usage: check_floor PORT CHECKS_PER_SECOND SECONDS\n");
		return 1;
	}
	to.sin_family = AF_INET;
	to.sin_port = htons((unsigned short)atoi(argv[1]));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	poller = epoll_create1(0);
	end = next + atof(argv[3]);
	used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (; next < end; checks += batch) {
		double wait;

		beat(batch);
		next += BEAT_S;
		wait = next - seconds(CLOCK_MONOTONIC);
		if (wait > 0)
			usleep((useconds_t)(wait * 1e6));
	}
	used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
	printf("%.1f\n", used / (double)checks * 1e6);
	return 0;
}
