/* SPDX-License-Identifier: MIT */
/*
 * Starting the platform.  Owns nothing: what is read once is kept by the file that uses it.
 */
#include "platform/platform.h"
#include "platform/registers.h"

/* Called early, before there is a second thread of ours; calling it again changes nothing. */
void sgc_platform_init(void)
{
    (void)sgc_os_page_size();
    (void)sgc_tls_layout_verified();
}

const char *sgc_platform_name(void)
{
    return "linux " SGC_ARCH_NAME;
}
