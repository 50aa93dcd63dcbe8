#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# differs: cpu-affinity-per-thread
"""Which thread runs on which CPUs, on machines that are made up: cpu-policy, threads-per-core, cpu-affinity,
max-threads-per-group, thread-hard-limit, as option -dc tells it. A made-up /sys is put over the system's in a mount
namespace; skipped where that cannot be made."""
import os
import subprocess
import tempfile

import lib

CONF = """global
	cpu-set reset
%s
defaults
	mode http
	timeout connect 1s
	timeout client 1s
	timeout server 1s
listen l
	bind 127.0.0.1:%d
"""

# (packages, CCX of each, cores of each, CPUs of each core), then lines and what is bound: "group/threads: CPUs"
SMT = (1, 2, 4, 2)
CASES = [
    (SMT, "", "1/1-8: 0-3,8-11; 2/1-8: 4-7,12-15"),
    (SMT, "cpu-affinity per-core", "1/1-2: 0,8; 1/3-4: 1,9; 1/5-6: 2,10; 1/7-8: 3,11; 2/1-2: 4,12; 2/3-4: 5,13; "
     "2/5-6: 6,14; 2/7-8: 7,15"),
    (SMT, "cpu-affinity per-ccx", "1/1-8: 0-3,8-11; 2/1-8: 4-7,12-15"),
    (SMT, "cpu-policy performance threads-per-core 1", "1/1: 0,8; 1/2: 1,9; 1/3: 2,10; 1/4: 3,11; 2/1: 4,12; 2/2: 5,13; "
     "2/3: 6,14; 2/4: 7,15"),
    (SMT, "cpu-policy performance threads-per-core auto", "1/1-8: 0-3,8-11; 2/1-8: 4-7,12-15"),
    (SMT, "cpu-policy performance threads-per-core 1\n\tcpu-affinity per-thread",
     "1/1: 0; 1/2: 1; 1/3: 2; 1/4: 3; 2/1: 4; 2/2: 5; 2/3: 6; 2/4: 7"),
    (SMT, "cpu-policy performance threads-per-core 1\n\tcpu-affinity per-group", "1/1-4: 0-3,8-11; 2/1-4: 4-7,12-15"),
    (SMT, "max-threads-per-group 4", "1/1-4: 0-1,8-9; 2/1-4: 2-3,10-11; 3/1-4: 4-5,12-13; 4/1-4: 6-7,14-15"),
    (SMT, "max-threads-per-group 4\n\tcpu-affinity per-group loose",
     "1/1-4: 0-3,8-11; 2/1-4: 0-3,8-11; 3/1-4: 4-7,12-15; 4/1-4: 4-7,12-15"),
    (SMT, "max-threads-per-group 4\n\tcpu-affinity per-ccx",
     "1/1-4: 0-3,8-11; 2/1-4: 0-3,8-11; 3/1-4: 4-7,12-15; 4/1-4: 4-7,12-15"),
    (SMT, "cpu-policy resource\n\tthread-hard-limit 3", "1/1-3: 4-6"),
    (SMT, "nbthread 4\n\tcpu-affinity per-core", "1/1-4: 0-15"),
    (SMT, "nbthread 32", "1/1-16: 0-15; 2/1-16: 0-15"),
    (SMT, "cpu-policy group-by-2-ccx\n\tcpu-affinity per-ccx", "1/1-8: 0-3,8-11; 1/9-16: 4-7,12-15"),
    ((1, 1, 9, 2), "", "1/1-9: 0-4,9-12; 2/1-9: 5-8,13-17"),
    ((1, 1, 9, 2), "thread-hard-limit 7\n\tmax-threads-per-group 4", "1/1-4: 0-3; 2/1-3: 4-6"),
    ((2, 2, 6, 1), "cpu-policy group-by-3-ccx\n\tmax-threads-per-group 4\n\tcpu-affinity per-ccx",
     "1/1-4: 0-5; 2/1-2: 0-5; 2/3-4: 6-11; 3/1-4: 6-11; 4/1-4: 12-17; 5/1-2: 12-17; 6/1-3: 18-23; 7/1-3: 18-23"),
]
# the reference gives all threads of a group one CPU, here each has its own
OWN = [
    (SMT, "cpu-affinity per-thread\n\tthread-hard-limit 4", "1/1: 0; 1/2: 1; 1/3: 2; 1/4: 3"),
    (SMT, "cpu-affinity per-thread\n\tmax-threads-per-group 8\n\tcpu-policy group-by-ccx",
     "1/1: 0; 1/2: 8; 1/3: 1; 1/4: 9; 1/5: 2; 1/6: 10; 1/7: 3; 1/8: 11; "
     "2/1: 4; 2/2: 12; 2/3: 5; 2/4: 13; 2/5: 6; 2/6: 14; 2/7: 7; 2/8: 15"),
]


def span(numbers):
    out, numbers = [], sorted(numbers)
    while numbers:
        first = last = numbers.pop(0)
        while numbers and numbers[0] == last + 1:
            last = numbers.pop(0)
        out.append("%d" % first if first == last else "%d-%d" % (first, last))
    return ",".join(out)


def make_machine(root, packages, ccx, cores, smt):
    """The first CPUs of all cores have the lowest numbers."""
    cpus = [(core + t * packages * ccx * cores, core // (ccx * cores), core // cores, core)
            for core in range(packages * ccx * cores) for t in range(smt)]

    def put(path, value):
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("%s\n" % value)

    for name in ("online", "present", "possible"):
        put("cpu/" + name, span([c[0] for c in cpus]))
    put("node/online", "0-%d" % (packages - 1) if packages > 1 else "0")
    for node in range(packages):
        put("node/node%d/cpulist" % node, span([c[0] for c in cpus if c[1] == node]))
    for cpu, package, cache, core in cpus:
        here = "cpu/cpu%d/" % cpu
        same = {k: span([c[0] for c in cpus if c[k] == (package, cache, core)[k - 1]]) for k in (1, 2, 3)}
        for name in ("thread_siblings_list", "core_cpus_list", "cluster_cpus_list"):
            put(here + "topology/" + name, same[3])
        for name in ("package_cpus_list", "core_siblings_list", "die_cpus_list"):
            put(here + "topology/" + name, same[1])
        put(here + "topology/physical_package_id", package)
        put(here + "topology/core_id", core)
        put(here + "topology/die_id", 0)
        for i, (level, kind, k) in enumerate(((1, "Data", 3), (1, "Instruction", 3), (2, "Unified", 3), (3, "Unified", 2))):
            put(here + "cache/index%d/level" % i, level)
            put(here + "cache/index%d/type" % i, kind)
            put(here + "cache/index%d/shared_cpu_list" % i, same[k])
        put(here + "cpu_capacity", 1024)


def bindings(text):
    rows = text.partition("CPU set\n")[2].strip().splitlines()
    return "; ".join("%s: %s" % (r.split()[0], r.split()[-1]) for r in rows if ":" in r)


def on_machine(folder, machine, program, conf):
    root = os.path.join(folder, "-".join(map(str, machine)))
    if not os.path.exists(root):
        make_machine(root, *machine)
    script = 'mount --bind "$0/cpu" /sys/devices/system/cpu && mount --bind "$0/node" /sys/devices/system/node && exec "$@"'
    return subprocess.run(["unshare", "-m", "sh", "-c", script, root, program, "-c", "-dc", "-f", conf],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=lib.PATIENCE)


def main():
    args = lib.arguments(__doc__)
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        conf = os.path.join(folder, "c.cfg")
        cases = CASES + ([] if lib.is_reference(args.program) else OWN)
        for machine, lines, want in cases:
            with open(conf, "w") as f:
                f.write(CONF % ("\t" + lines if lines else "", lib.ports(1)[0]))
            r = on_machine(folder, machine, args.program, conf)
            if b"unshare:" in r.stderr or b"mount:" in r.stderr:
                tap.skip("machines that are made up", r.stderr.decode().strip().splitlines()[0])
                break
            tap.eq(bindings(r.stdout.decode()), want, "%s: %s" % ("x".join(map(str, machine)),
                                                               lines.replace("\n\t", ", ") or "nothing"))
    tap.done()


if __name__ == "__main__":
    lib.guarded(main)
