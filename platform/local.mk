# SPDX-License-Identifier: MIT
# The operating system and the processor.  One file an operating system or architecture, chosen here.

platform_sources = \
	platform/atomics.h \
	platform/atomics_ao.h \
	platform/atomics_c11.h \
	platform/brief.c \
	platform/brief.h \
	platform/dirty.c \
	platform/dirty.h \
	platform/dirty_software.c \
	platform/lock.c \
	platform/lock.h \
	platform/placement.h \
	platform/number_set.c \
	platform/number_set.h \
	platform/out_file.h \
	platform/quiet_write.h \
	platform/written_file.h \
	platform/platform.h \
	platform/registers.h \
	platform/report.c \
	platform/report.h \
	platform/sanitizers.h \
	platform/section.c \
	platform/section.h \
	platform/single_writer.h \
	platform/stretch.h \
	platform/stack_clear.c \
	platform/store_faults.c \
	platform/store_faults.h \
	platform/topology.c \
	platform/topology.h \
	platform/visibility.h

if SGC_OS_LINUX
platform_sources += \
	platform/barrier_linux.c \
	platform/caches_linux.c \
	platform/clock_posix.c \
	platform/dirty_async_linux.c \
	platform/dirty_mprotect.c \
	platform/dirty_soft_linux.c \
	platform/faults.h \
	platform/limits_linux.c \
	platform/memory_linux.c \
	platform/modules_linux.c \
	platform/out_file_linux.c \
	platform/quiet_write_linux.c \
	platform/written_file_linux.c \
	platform/own_file_linux.c \
	platform/own_file_linux.h \
	platform/placement_linux.c \
	platform/readable_linux.c \
	platform/proc_file_linux.c \
	platform/proc_file_linux.h \
	platform/protected_pages.c \
	platform/protected_pages.h \
	platform/stack_linux.c \
	platform/stretch_linux.c \
	platform/syscall_linux.h \
	platform/threads_linux.c \
	platform/tls_linux.c \
	platform/topology_sysfs.c \
	platform/unwind_gcc.c \
	platform/wait_linux.c
endif

if SGC_ARCH_X86_64
platform_sources += platform/registers_x86_64.c platform/registers_x86_64.h
platform_sources += platform/find_pointers_x86_64.c platform/zero_x86_64.c
else
platform_sources += platform/find_pointers_none.c platform/zero_any.c
endif

if SGC_ARCH_AARCH64
platform_sources += platform/registers_aarch64.c platform/registers_aarch64.h
endif

if SGC_HWLOC
platform_sources += platform/topology_hwloc.c
else
platform_sources += platform/topology_none.c
endif

# Which words are addresses.
platform_sources += platform/find_pointers.h platform/find_pointers_any.c

