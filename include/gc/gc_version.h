/* SPDX-License-Identifier: MIT */
/*
 * The version of the bdwgc interface that these headers follow.  It is a promise about names, types and
 * meaning, so programs that test it make the same choices on SGC as on that release.  SGC's own
 * version is SGC_VERSION_* in sgc.h.
 */
#ifndef GC_VERSION_H
#define GC_VERSION_H

#define GC_VERSION_MAJOR 8
#define GC_VERSION_MINOR 2
#define GC_VERSION_MICRO 2

#endif
