/* SPDX-License-Identifier: MIT */
/* For tests/check/check_names: objects of two classes of Objective-C, made by GNU's runtime for collectors; prints their addresses
 * and classes, and collects once. */
#include <objc/runtime.h>
#include <stdio.h>

extern void GC_gcollect(void);

@interface Root
{
    Class isa;
}
@end

@implementation Root
+ (void)initialize
{
}
@end

@interface Node : Root
{
@public
    Node *next;
    long value;
}
@end

@implementation Node
@end

static id kept[2];

int main(void)
{
    kept[0] = class_createInstance(objc_getClass("Root"), 0);
    kept[1] = class_createInstance(objc_getClass("Node"), 0);
    printf("%p Root\n%p Node\n", (void *)kept[0], (void *)kept[1]);
    GC_gcollect();
    return 0;
}
