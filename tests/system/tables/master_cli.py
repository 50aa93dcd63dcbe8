# SPDX-License-Identifier: GPL-2.0-or-later
"""What clients of the master's socket send and get.

(name, what is sent, what comes for each part). W stands for the worker's pid, [T] for an uptime, <HELP> for the lines that
follow the first one of a help, <EOF> for the end of the connection; SHUT closes the client's side. Those in OWN are what
this program says alone: the reference does not know `set severity-output` for commands of the master.
"""

UNKNOWN = "Unknown command: '%s', but maybe one of the following ones is a better match:\n<HELP>\n\n"
ARGUMENT = "one of 'none', 'number', 'string' is a required argument\n"
DENIED = "Permission denied!\n"

BOTH = [
    ("a command, and its end", ["show cli level\n"], ["admin\n\n"]),
    ("lines one after the other", ["show cli level\n", "show cli level\n"], ["admin\n\n", "admin\n\n"]),
    ("the end of the client's side", ["show cli level\n", "SHUT"], ["admin\n\n", "<EOF>"]),
    ("a line without end is no command", ["show cli level", "SHUT"], ["", "<EOF>"]),
    ("quit", ["show cli level;quit;show cli level\n"], ["admin\n\n<EOF>"]),
    ("empty commands", [" \n", ";show cli level\n"], ["\n", "\nadmin\n\n"]),
    ("blanks", ["  show   cli level  \n"], ["admin\n\n"]),
    ("unknown", ["bogus\n"], [UNKNOWN % "bogus"]),
    ("commands of workers", ["show info\n"], [UNKNOWN % "show"]),
    # --- prefixes
    ("@1", ["@1 show cli level\n"], ["admin\n\n"]),
    ("blanks around it", [" @1   show cli level\n"], ["admin\n\n"]),
    ("the master by name", ["@master show cli level;@0 show cli level;@ show cli level;@@ show cli level\n"], ["admin\n\n" * 4]),
    ("by pid", ["@!W show cli level\n"], ["admin\n\n"]),
    ("nobody", ["@99 x\n"], ["Can't find the target PID matching the prefix '@99'\n"]),
    ("nobody, @@", ["@@99\n"], ["Can't find the target PID matching the prefix '@@99'\n"]),
    ("a number is not cut", ["@1x show cli level\n"], ["Can't find the target PID matching the prefix '@1x'\n"]),
    ("no pid", ["@!0 x\n"], ["Can't find the target PID matching the prefix '@!0'\n"]),
    ("what follows is not run", ["@99 x;show cli level\n", "show cli level\n"],
     ["Can't find the target PID matching the prefix '@99'\n", "admin\n\n"]),
    ("one at a time", ["@1 echo a;echo b;@1 echo c\n"], ["a\n\nb\n\nc\n\n"]),
    ("a context", ["@1;show cli level;@;show cli level\n"], ["admin\n\nadmin\n\n"]),
    ("help of a context", ["@1\n", "bogus\n"], ["", UNKNOWN % "bogus"]),
    ("escapes reach the worker", ["@1 echo \\;a\n"], [";a\n\n"]),
    ("quit in a context", ["@1;quit;show cli level\n"], ["<EOF>"]),
    ("quit in the worker", ["@1 quit;show cli level\n"], ["admin\n\n"]),
    ("a payload", ["@1 add map x <<\n", "a b\n", "\n"], ["", "", "Unknown map identifier. Please use #<id> or <file>.\n\n"]),
    ("its mark", ["@1 add map x <<END\n\na b\n", "END\n"], ["", "Unknown map identifier. Please use #<id> or <file>.\n\n"]),
    ("64 kB of it", ["@1 add map x <<END\n" + "a b\n" * 16384 + "END\n"], ["Unknown map identifier. Please use #<id> or <file>.\n\n"]),
    # --- @@
    ("@@1: the whole line", ["@@1 echo a; echo b\n"], ["a\n\nb\n\n"]),
    ("@@1: interactive", ["prompt\n", "@@1\n", "echo a\n", "quit\n", "show cli level\n"],
     ["master> ", "\n> ", "a\n\n> ", "master> ", "admin\n\nmaster> "]),
    ("@@1: without a prompt", ["@@1\n", "echo a\n", "quit\n", "show cli level\n"], ["\n", "a\n\n", "", "admin\n\n"]),
    ("@@1: with time", ["prompt timed\n", "@@1\n", "quit\n"], ["[T] master> ", "\n[T]> ", "[T] master> "]),
    ("@@1: a severity is not passed", ["set severity-output number;@@1 set server x/y state ready\n"], ["No such backend.\n\n"]),
    # --- prompts
    ("a prompt behind each command", ["prompt\n", "@1;echo a;@;echo b\n"], ["master> ", "W> a\n\nW> master> b\n\nmaster> "]),
    ("a prompt, and quit", ["prompt\n", "quit\n"], ["master> ", "master> <EOF>"]),
    ("a prompt behind what fails", ["prompt\n", "@99\n"], ["master> ", "Can't find the target PID matching the prefix '@99'\nmaster> "]),
    ("prompt i, p", ["prompt i\n", "echo a\n", "prompt\n", "prompt\n", "prompt p\n"], ["", "a\n\n", "master> ", "", "master> "]),
    ("timed", ["prompt timed\n", "@1\n", "prompt timed\n"], ["[T] master> ", "[T] W> ", "W> "]),
    ("timed later", ["prompt timed i\n", "echo a\n", "prompt p\n"], ["", "a\n\n", "[T] master> "]),
    ("timed by i", ["prompt i timed\n", "prompt\n"], ["", "[T] master> "]),
    ("prompts of a payload", ["prompt\n", "@1 add map x <<EOF\n", "a b\n\n", "EOF\n"],
     ["master> ", "+ ", "+ + ", "Unknown map identifier. Please use #<id> or <file>.\n\nmaster> "]),
    ("flags of modes", ["prompt\n", "expert-mode on\n", "experimental-mode on\n", "mcli-debug-mode on\n", "expert-mode off\n"],
     ["master> ", "master(e)> ", "master(xe)> ", "master(xed)> ", "master(xd)> "]),
    # --- modes and levels
    ("modes reach workers", ["expert-mode on;@1 expert-mode\n"], ["expert-mode is ON\n\n"]),
    ("as contexts", ["@1;experimental-mode on;@;@1 experimental-mode\n"], ["experimental-mode is ON\n\n"]),
    ("only 'on' is on", ["expert-mode on;expert-mode;@1 expert-mode\n", "expert-mode on;expert-mode x;@1 expert-mode\n"],
     ["expert-mode is OFF\n\n"] * 2),
    ("levels", ["operator;show cli level;@1 show cli level;user;@1 show cli level\n"], ["operator\n\noperator\n\nuser\n\n"]),
    ("levels go down only", ["user;operator;show cli level\n", "show cli level\n"], [DENIED, "user\n\n"]),
    ("modes need a level", ["operator;expert-mode on\n", "experimental-mode on\n", "mcli-debug-mode on\n"], [DENIED] * 3),
    ("in a context", ["prompt\n", "@1\n", "user\n", "show cli level\n", "@\n", "show cli level\n"],
     ["master> ", "W> ", "W> ", "user\n\nW> ", "master> ", "user\n\nmaster> "]),
    ("a user does not reload", ["user;reload\n"], ["Permission denied\n\n"]),
    ("show proc", ["show proc bogus\n"], ["'show proc' only supports 'debug' as argument\n\n"]),
    # --- severity
    ("severity: it is not answered", ["set severity-output number\n", "@1 show cli level\n"], ["", "[6]: admin\n\n"]),
    ("severity: what tools send", ["set severity-output number;@1 show cli level;quit\n"], ["[6]: admin\n\n<EOF>"]),
    ("severity: an error", ["set severity-output number;@1 set server x/y state ready;quit\n"], ["[3]: No such backend.\n\n<EOF>"]),
    ("severity: unknown", ["set severity-output number;@1 bogus;quit\n"], ["[6]: " + UNKNOWN % "bogus" + "<EOF>"]),
    ("severity: as a word", ["set severity-output string;@1 set server x/y state ready\n"], ["[err]: No such backend.\n\n"]),
    ("severity: none again", ["set severity-output number;set severity-output none;@1 show cli level\n"], ["admin\n\n"]),
    ("severity: in a context", ["@1;set severity-output number;show cli level\n"], ["[6]: admin\n\n"]),
    ("severity: for one command", ["@1 set severity-output number;@1 show cli level\n"], ["\nadmin\n\n"]),
    ("severity: a wrong word", ["set severity-output\n", "set severity-output x;show cli level\n", "show cli level\n"],
     [ARGUMENT, ARGUMENT, "admin\n\n"]),
    ("severity: with modes", ["expert-mode on;set severity-output number;@1 expert-mode\n"], ["[6]: expert-mode is ON\n\n"]),
    ("severity: prompts", ["prompt\n", "set severity-output number\n", "@1 bogus\n"],
     ["master> ", "master> ", "[6]: " + UNKNOWN % "bogus" + "master> "]),
]

OWN = [
    ("severity of the master's commands", ["set severity-output number;show cli level;bogus;show proc x\n"],
     ["[6]: admin\n\n[6]: " + UNKNOWN % "bogus" + "[3]: 'show proc' only supports 'debug' as argument\n\n"]),
    ("severity of what is refused", ["set severity-output number;@99 x\n", "user;operator\n", "reload\n"],
     ["[3]: Can't find the target PID matching the prefix '@99'\n", "[3]: Permission denied!\n", "[3]: Permission denied\n\n"]),
    ("severity as a word", ["set severity-output string;user;expert-mode on\n"], ["[err]: Permission denied!\n"]),
    ("1 MB of a payload reaches the worker, which refuses it", ["@1 add map x <<END\n" + "a b\n" * 262144 + "END\n"],
     ["The payload is too big. Please change 'tune.cli.max-payload-size' in the configuration to use a bigger payload.\n"]),
]
