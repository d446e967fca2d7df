/* SPDX-License-Identifier: MIT */
/* What the system says of this process's memory. */
#ifndef TESTS_LIB_PROC_H
#define TESTS_LIB_PROC_H

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/lib/tap.h"

/* By qemu-user, by whose name the kernel knows this process: its address space is the emulator's, too. */
bool proc_emulated(void);

/* Bytes of address space. */
size_t proc_address_space(void);

/* Has the mapping with this address that flag?  -1: the system does not say. */
int proc_flag(const void *address, const char *flag);

#endif
