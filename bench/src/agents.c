/* agents - an agent of SPOE and an application of FastCGI to put behind the measured proxies.
 *
 * usage: agents SPOP_PORT FCGI_PORT        (listens on 127.0.0.1, one thread)
 *
 * The agent sets txn.score in answer to each NOTIFY; the application answers each request with 16
 * bytes, several at once on a connection. What they are sent is not looked at: the client is known.
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

#define IN_MAX  (128 << 10)
#define OUT_MAX (256 << 10)

enum kind { SPOP, FCGI };

struct conn {
	int fd;
	enum kind kind;
	int listens;
	size_t len, end;
	unsigned char in[IN_MAX], out[OUT_MAX];
};

static int ep;

static void put(struct conn *c, const void *data, size_t len)
{
	if (c->end + len > OUT_MAX)
		exit(2); /* the proxy does not read: nothing is measured */
	memcpy(c->out + c->end, data, len);
	c->end += len;
}

static uint32_t number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* How long a varint is. */
static size_t varint_len(const unsigned char *p)
{
	size_t n = 1;

	if (p[0] < 0xf0)
		return 1;
	while (p[n++] >= 0x80)
		;
	return n;
}

/* The size of the frame at <p>; 0: it is not there as a whole. */
static size_t frame(struct conn *c, const unsigned char *p, size_t len)
{
	static const unsigned char hello[] = "\x65\0\0\0\1\0\0" "\7version\x08\3" "2.0" "\x0emax-frame-size\3\xfc\xf0\6"
					     "\x0c" "capabilities\x08\x0apipelining";
	static const unsigned char set[] = "\1\3\2\5score\3\x2a";
	unsigned char head[32] = { 0 };
	size_t size, ids;

	if (len < 4 || len < 4 + number(p))
		return 0;
	size = 4 + number(p);
	if (p[4] == 1) {
		head[3] = sizeof(hello) - 1;
		put(c, head, 4);
		put(c, hello, sizeof(hello) - 1);
	} else if (p[4] == 3) {
		ids = varint_len(p + 9);
		ids += varint_len(p + 9 + ids);
		head[3] = (unsigned char)(5 + ids + sizeof(set) - 1);
		head[4] = 103;
		head[8] = 1;
		memcpy(head + 9, p + 9, ids);
		put(c, head, 9 + ids);
		put(c, set, sizeof(set) - 1);
	}
	return size;
}

static size_t record(struct conn *c, const unsigned char *p, size_t len)
{
	static const char text[] = "Content-Type: text/plain\r\nContent-Length: 16\r\n\r\nxxxxxxxxxxxxxxxx";
	unsigned char out[24 + sizeof(text)] = { 1, 6, p[2], p[3], 0, sizeof(text) - 1 };
	unsigned char end[24] = { 1, 6, p[2], p[3], 0, 0, 0, 0, 1, 3, p[2], p[3], 0, 8 };
	size_t size;

	if (len < 8)
		return 0;
	size = 8 + ((size_t)p[4] << 8 | p[5]) + p[6];
	if (len < size)
		return 0;
	if (p[1] == 5 && !p[4] && !p[5]) { /* the end of STDIN */
		memcpy(out + 8, text, sizeof(text) - 1);
		put(c, out, 8 + sizeof(text) - 1);
		put(c, end, sizeof(end));
	}
	return size;
}

static int flush(struct conn *c)
{
	ssize_t n = c->end ? send(c->fd, c->out, c->end, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	memmove(c->out, c->out + n, c->end - (size_t)n);
	c->end -= (size_t)n;
	return 0;
}

static void serve(struct conn *c)
{
	ssize_t n = recv(c->fd, c->in + c->len, IN_MAX - c->len, MSG_DONTWAIT);
	size_t at = 0, used;

	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		close(c->fd);
		free(c);
		return;
	}
	c->len += n > 0 ? (size_t)n : 0;
	do {
		used = c->kind == SPOP ? frame(c, c->in + at, c->len - at) : record(c, c->in + at, c->len - at);
		at += used;
	} while (used);
	memmove(c->in, c->in + at, c->len - at);
	c->len -= at;
	if (flush(c) < 0) {
		close(c->fd);
		free(c);
	}
}

static void welcome(struct conn *l)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct conn *c = malloc(sizeof(*c));
	int one = 1;

	if (!c)
		return;
	c->fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK);
	if (c->fd < 0) {
		free(c);
		return;
	}
	c->kind = l->kind;
	c->listens = 0;
	c->len = c->end = 0;
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	e.data.ptr = c;
	epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
}

int main(int argc, char **argv)
{
	struct epoll_event ev[256];

	signal(SIGPIPE, SIG_IGN);
	ep = epoll_create1(0);
	for (int i = 1; i < argc && i < 3; i++) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[i])),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		struct conn *l = calloc(1, sizeof(*l));
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };
		int one = 1;

		l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		l->kind = i == 1 ? SPOP : FCGI;
		l->listens = 1;
		setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(l->fd, (void *)&a, sizeof(a)) || listen(l->fd, 4096)) {
			perror(argv[i]);
			return 1;
		}
		epoll_ctl(ep, EPOLL_CTL_ADD, l->fd, &e);
	}
	for (;;) {
		int n = epoll_wait(ep, ev, 256, -1);

		for (int i = 0; i < n; i++) {
			struct conn *c = ev[i].data.ptr;

			if (c->listens)
				welcome(c);
			else
				serve(c);
		}
	}
}
