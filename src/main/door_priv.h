/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door_priv.h - how a worker without rights reads a new configuration
 *
 *	worker (chrooted, unprivileged)            master (as it was started)
 *	  door.c  -"D", one end of a pair-->   master.c --fork--> reader.c
 *	     |                                                       |
 *	     +----- struct door_question ---------------------------->
 *	     <----- struct door_answer, maybe a descriptor ----------+
 *
 * The worker is not trusted: it faces the network. So the master does not do what it says, but has
 * a process of its own, the reader, read the same configuration with the master's rights; what that
 * reading asks for (base/door.h) is the list of what is given, and the bind lines that it found are
 * the sockets that are opened. A worker that was taken over gets what any reload would give it,
 * and nothing else: no other file, no directory, no port. The reader lives for one reload; there is
 * one at a time for a worker.
 *
 * A link on the way to a file is followed unless it belongs to the worker's user: else the worker
 * could lead the reader from a folder of its own to any file of the system.
 */
#ifndef MAIN_DOOR_PRIV_H
#define MAIN_DOOR_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define DOOR_VERSION 1
#define DOOR_TEXT_MAX 8192
/* A reader that hears nothing, and a worker that gets no answer, give up. */
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
	char text[DOOR_TEXT_MAX]; /* as much as is needed; struct door_socket of DOOR_LISTEN */
};

/* What comes with DOOR_LIST (names, in memory), DOOR_OPEN, _MAKE and _LISTEN is a descriptor. */
struct door_answer {
	int32_t error;       /* errno; 0 good */
	int32_t value;       /* kind, user, group; length of an address */
	char text[DOOR_TEXT_MAX]; /* a directory, an address, why not; as much as is needed */
};

struct door_socket {
	struct sockaddr_storage address;
	uint32_t len;
	char netns[256], interface[64];
};

/* --- noted.c : all that is asked of the door from noted_begin() to noted_end() is noted, and
 * answered by the kernel. <make_none>: what is to be made is memory for now. False: no memory.
 */
bool noted_begin(bool make_none);
void noted_end(void);
/* Was that asked? <mode>: of what it makes. */
bool noted_has(enum door_what what, int flags, unsigned mode, const char *text);
/* Relative names begin there from now on; NULL: nothing changes. */
void noted_directory(const char *path);
/* The <n>th name that was noted, of what, with which flags; NULL: there are not that many. */
const char *noted_path(size_t n, enum door_what *what, int *flags);
void noted_fini(void);

#define DOOR_QUESTION_HEAD offsetof(struct door_question, text)
#define DOOR_ANSWER_HEAD offsetof(struct door_answer, text)

#endif
