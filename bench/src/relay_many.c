/* relay_many - the floor of balancing: each request goes to the next of many servers.
 *
 * usage: relay_many LISTEN_PORT COUNT SERVER_PORT...
 *
 * As relay -k, it looks at nothing but Content-Length in the response. COUNT connections to the
 * servers, in turns over the ports, are opened when their turn comes and kept; each request of a
 * client goes to the next one that has nothing to do, so that the sockets which serve it are those
 * that the caches have forgotten, as with a proxy of so many servers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct end {
	int fd;                  /* -1: not open */
	int is_server;
	struct end *with;        /* whose request, or response, this is now */
	int64_t left;            /* server: response bytes to come, -1 before its header */
};

static char buf[128 * 1024];
static int ep, count, ports[16], port_count;
static struct end *servers;
static unsigned turn;

static void watch(struct end *e)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = e };

	epoll_ctl(ep, EPOLL_CTL_ADD, e->fd, &ev);
}

/* The next server without a request; connected in blocking mode the first time. */
static struct end *next_server(void)
{
	for (int tries = 0; tries < count; tries++) {
		unsigned i = turn++ % (unsigned)count;
		struct end *s = &servers[i];
		struct sockaddr_in to = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)ports[i % (unsigned)port_count]),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

		if (s->with)
			continue;
		if (s->fd >= 0)
			return s;
		s->fd = socket(AF_INET, SOCK_STREAM, 0);
		s->is_server = 1;
		s->left = -1;
		if (connect(s->fd, (void *)&to, sizeof(to))) {
			perror("connect");
			exit(1);
		}
		watch(s);
		return s;
	}
	fprintf(stderr, "more requests than servers\n");
	exit(1);
}

static void client_event(struct end *c)
{
	ssize_t n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		if (c->with)
			c->with->with = NULL;
		close(c->fd);
		free(c);
		return;
	}
	if (!c->with) {
		c->with = next_server();
		c->with->with = c;
	}
	if (send(c->with->fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		exit(1);
}

static void server_event(struct end *s)
{
	ssize_t n = recv(s->fd, buf, sizeof(buf), MSG_DONTWAIT);
	struct end *c = s->with;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		fprintf(stderr, "a server has gone\n");
		exit(1);
	}
	if (s->left < 0) {
		char *eoh = memmem(buf, (size_t)n, "\r\n\r\n", 4);
		char *cl = memmem(buf, (size_t)n, "Content-Length: ", 16);

		s->left = eoh && cl ? eoh + 4 - buf + atoll(cl + 16) : n;
	}
	s->left -= n;
	if (c && send(c->fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		exit(1);
	if (s->left > 0)
		return;
	s->left = -1;
	s->with = NULL;
	if (c)
		c->with = NULL;
}

static void welcome(int lfd)
{
	int fd;

	while ((fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		struct end *c = calloc(1, sizeof(*c));

		c->fd = fd;
		watch(c);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event ev[256], e = { .events = EPOLLIN };
	int n, lfd, one = 1;

	if (argc < 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	a.sin_port = htons((uint16_t)atoi(argv[1]));
	count = atoi(argv[2]);
	for (n = 3; n < argc && port_count < 16; n++)
		ports[port_count++] = atoi(argv[n]);
	servers = calloc((size_t)count, sizeof(*servers));
	for (n = 0; n < count; n++)
		servers[n].fd = -1;
	lfd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(lfd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* inherited */
	if (bind(lfd, (void *)&a, sizeof(a)) || listen(lfd, 4096)) {
		perror(argv[1]);
		return 1;
	}
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, lfd, &e);
	for (;;) {
		n = epoll_wait(ep, ev, 256, -1);
		for (int i = 0; i < n; i++) {
			struct end *s = ev[i].data.ptr;

			if (!s)
				welcome(lfd);
			else if (s->is_server)
				server_event(s);
			else
				client_event(s);
		}
	}
}
