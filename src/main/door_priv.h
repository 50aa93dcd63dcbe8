/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door_priv.h - reading a new configuration in a worker without privileges
 *
 *	worker (chrooted, unprivileged)            master (as it was started)
 *	  door.c  -"D", one end of a pair-->   master.c --fork--> reader.c
 *	     |                                                       |
 *	     +----- struct door_question ---------------------------->
 *	     <----- struct door_answer, maybe a descriptor ----------+
 *
 * The worker is not trusted: it faces the network. So the master does not execute its requests, but
 * forks a process, the reader, that reads the same configuration with the master's rights. Only
 * files that this reading asks for (base/door.h) are given to the worker, and only sockets of its
 * bind lines are opened. A compromised worker gets what any reload would give it, and nothing else:
 * no other file, no directory, no port. The reader lives for one reload; a worker has at most one
 * at a time.
 *
 * A link in a path is followed unless it belongs to the worker's user: otherwise the worker could
 * lead the reader from a directory of its own to any file of the system.
 */
#ifndef MAIN_DOOR_PRIV_H
#define MAIN_DOOR_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define DOOR_VERSION 1
#define DOOR_TEXT_MAX 8192
/* Time after which a reader without requests, and a worker without an answer, give up. */
#define DOOR_PATIENCE_S 300

enum door_what {
	DOOR_OPEN = 'o', DOOR_MAKE = 'm', DOOR_KIND = 'k', DOOR_LIST = 'l', DOOR_ENTER = 'e',
	DOOR_HOME = 'h', DOOR_USER = 'u', DOOR_GROUP = 'g', DOOR_HOST = 'n', DOOR_LISTEN = 's',
};

struct door_question {
	uint32_t version;
	uint32_t what;       /* enum door_what */
	int32_t flags;       /* of DOOR_OPEN; the family of DOOR_HOST */
	uint32_t mode;       /* of DOOR_MAKE */
	char text[DOOR_TEXT_MAX]; /* only as long as needed; struct door_socket of DOOR_LISTEN */
};

/* DOOR_LIST (names, in memory), DOOR_OPEN, _MAKE and _LISTEN are answered with a descriptor. */
struct door_answer {
	int32_t error;       /* errno; 0: success */
	int32_t value;       /* kind, user, group; length of an address */
	char text[DOOR_TEXT_MAX]; /* a directory, an address, a reason; only as long as needed */
};

struct door_socket {
	struct sockaddr_storage address;
	uint32_t len;
	char netns[256], interface[64];
};

/* --- noted.c: between noted_begin() and noted_end() all requests to the door are recorded, and
 * answered by the kernel. <make_none>: files to be made are only memory for now. Returns false: no
 * memory.
 */
bool noted_begin(bool make_none);
void noted_end(void);
/* Returns true if this was requested. <mode>: of files to be made. */
bool noted_has(enum door_what what, int flags, unsigned mode, const char *text);
/* Sets the directory that relative names start from; NULL: no change. */
void noted_directory(const char *path);
/* Returns the name of the <n>th recorded request, with its type and flags; NULL: there are not that
 * many.
 */
const char *noted_path(size_t n, enum door_what *what, int *flags);
void noted_fini(void);

#define DOOR_QUESTION_HEAD offsetof(struct door_question, text)
#define DOOR_ANSWER_HEAD offsetof(struct door_answer, text)

#endif
