/* SPDX-License-Identifier: MIT */
/*
 * Places at which a debugger or tracer may look into a running program (USDT, provider sgc): gdb,
 * perf, bpftrace, SystemTap.  Each is one nop and a note in the library's file that says where its
 * arguments are; nothing has to be there when the program runs.  Arguments are values that the code
 * has anyway: a probe is no reason to compute one.  doc/tracing.md lists the probes.
 */
#ifndef SGC_PLATFORM_PROBE_H
#define SGC_PLATFORM_PROBE_H

#ifdef SGC_USE_USDT
#define SDT_USE_VARIADIC 1
#include <sys/sdt.h>
#define SGC_PROBE(name, ...) STAP_PROBEV(sgc, name, __VA_ARGS__)
#else
#define SGC_PROBE(name, ...) ((void)0)
#endif

#endif
