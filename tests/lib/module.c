/* SPDX-License-Identifier: MIT */
/*
 * A module for tests to load and unload: initialised and zero data, read-only data that needs
 * relocation, and a thread-local block of MODULE_TLS_BYTES.  Built twice, with a small and a large block.
 */
#ifndef MODULE_TLS_BYTES
#define MODULE_TLS_BYTES 64
#endif

long module_data[64] = { 1 };
long module_bss[64];
void *const module_relro[2] = { module_data, module_bss };

_Thread_local char module_tls[MODULE_TLS_BYTES];

/* The calling thread's block; made at the first call. */
void *module_tls_address(void);
void *module_tls_address(void)
{
    module_tls[0]++;
    return module_tls;
}
