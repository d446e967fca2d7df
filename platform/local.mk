# SPDX-License-Identifier: MIT
# The operating system and the processor.  One file an operating system or architecture, chosen here.
# platform_base_sources: all but hwloc's reading of the topology, or what stands in its place.

platform_base_sources = \
	platform/atomics.h \
	platform/atomics_ao.h \
	platform/atomics_c11.h \
	platform/compiler.h \
	platform/faults.h \
	platform/find_pointers.h \
	platform/find_pointers_any.c \
	platform/out_file.h \
	platform/platform.h \
	platform/probe.h \
	platform/registers.h \
	platform/report.c \
	platform/report.h \
	platform/sanitizer.c \
	platform/single_writer.h \
	platform/stack_clear.c \
	platform/sorted.h \
	platform/stretch.h \
	platform/text_line.c \
	platform/text_line.h

if SGC_OS_LINUX
platform_base_sources += \
	platform/file_linux.c \
	platform/file_linux.h \
	platform/limits_linux.c \
	platform/memory_linux.c \
	platform/module_parts_linux.c \
	platform/modules_linux.c \
	platform/out_file_linux.c \
	platform/readable_linux.c \
	platform/stack_linux.c \
	platform/stretch_linux.c \
	platform/syscall_linux.h \
	platform/threads_linux.c \
	platform/tls_linux.c \
	platform/unwind_gcc.c \
	platform/wait_linux.c
endif

if SGC_ARCH_X86_64
platform_base_sources += platform/registers_x86_64.c platform/registers_x86_64.h
platform_base_sources += platform/find_pointers_x86_64.c
else
platform_base_sources += platform/find_pointers_none.c
endif

if SGC_ARCH_AARCH64
platform_base_sources += platform/registers_aarch64.c platform/registers_aarch64.h
endif

# Sections and locks.
platform_base_sources += \
	platform/section/brief.c \
	platform/section/brief.h \
	platform/section/lock.c \
	platform/section/lock.h \
	platform/section/section.c \
	platform/section/section.h

# Memory nodes, processors and caches.
platform_base_sources += \
	platform/nodes/number_set.c \
	platform/nodes/number_set.h \
	platform/nodes/placement.h \
	platform/nodes/topology.c \
	platform/nodes/topology.h

if SGC_OS_LINUX
platform_base_sources += \
	platform/nodes/caches_linux.c \
	platform/nodes/placement_linux.c \
	platform/nodes/topology_sysfs.c
endif

platform_sources = $(platform_base_sources)
if SGC_HWLOC
platform_sources += platform/nodes/topology_hwloc.c
else
platform_sources += platform/nodes/topology_none.c
endif

# Which OS pages were written.
platform_base_sources += \
	platform/written/written.c \
	platform/written/written.h \
	platform/written/written_software.c

if SGC_OS_LINUX
platform_base_sources += \
	platform/written/written_async_linux.c \
	platform/written/written_mprotect.c \
	platform/written/written_soft_linux.c
endif
