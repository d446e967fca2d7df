/* SPDX-License-Identifier: MIT */
/*
 * The version of the bdwgc interface that these headers follow.  It is a promise about names, types and
 * meaning, so programs that test it make the same choices on SGC as on that release.  SGC's own
 * version is SGC_VERSION_* in sgc.h.
 */
#ifndef GC_VERSION_H
#define GC_VERSION_H

/*
 * bdwgc 8.3 has changed some types: a warning's format is const, as is the type of an object of gcj; the sizes of
 * GC_register_altstack are size_t, and GC_get_memory_use gives a GC_word.  A program that was written for these defines
 * SGC_BDWGC as 803, best on the compiler's command line.  It has that version then.  What 8.3 has added is declared either way,
 * and the library is the same.
 */
#ifndef SGC_BDWGC
#define SGC_BDWGC 802
#endif

#if SGC_BDWGC == 802
#define GC_VERSION_MAJOR 8
#define GC_VERSION_MINOR 2
#define GC_VERSION_MICRO 12
#elif SGC_BDWGC == 803
#define GC_VERSION_MAJOR 8
#define GC_VERSION_MINOR 3
#define GC_VERSION_MICRO 0
#else
#error "SGC_BDWGC is 802, as it is if it is not defined, or 803."
#endif

#endif
