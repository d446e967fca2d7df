/* SPDX-License-Identifier: MIT */
/*
 * The client's hooks, for gc/collect/client_hooks.h, which says what each function does and when it is called.
 */
#ifndef SGC_GC_API_HOOKS_H
#define SGC_GC_API_HOOKS_H

#include "gc/collect/client_hooks.h"

void sgc_client_threads_start(void);
void sgc_client_hooks_start(void);
void sgc_client_before(struct sgc_mutator *self);
void sgc_client_push_roots(struct sgc_marker *marker);
bool sgc_client_pushing(void);
void sgc_client_after(void);
sgc_toggle_fn sgc_client_toggle_fn(void);
sgc_await_fn sgc_client_await_fn(void);

#endif
