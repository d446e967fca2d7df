/* SPDX-License-Identifier: MIT */
/*
 * For tests/check/check_objc: the GNU runtime, in its form for a collector, makes a descriptor for each class, and allocates its
 * objects by type.  Lists of objects of two classes are built and dropped; one in twenty-five stays to the end.
 */
#include <objc/runtime.h>
#include <stdio.h>

enum { ROUNDS = 200, LENGTH = 5000 };

@interface Root
{
    Class isa;
}
+ (id)alloc;
@end

@implementation Root
+ (id)alloc
{
    return class_createInstance(self, 0);
}
+ (void)initialize
{
}
@end

@interface Node : Root
{
@public
    Node *next;
    long value;
    id other;
    char text[24];
}
@end

@implementation Node
@end

@interface Wide : Node
{
@public
    long numbers[80];
    Wide *last;
}
@end

@implementation Wide
@end

static Wide *make_list(id other)
{
    Wide *list = nil;

    for (int i = 0; i < LENGTH; i++) {
        Wide *w = [Wide alloc];
        Node *n = [Node alloc];

        n->value = i;
        n->other = w->last = list;
        w->next = n;
        w->value = i;
        w->other = other;
        w->numbers[i % 80] = (long)w;
        list = w;
    }
    return list;
}

static long sum(const Wide *list)
{
    long values = 0;

    for (; list != nil; list = list->last)
        values += list->value == list->next->value && list->next->other == (id)list->last ? list->value : -1000000;
    return values;
}

int main(void)
{
    Wide *kept[ROUNDS / 25];
    long values = 0;

    for (int round = 0; round < ROUNDS; round++) {
        Wide *list = make_list(round > 25 ? (id)kept[round / 25 - 1] : nil);

        if (round % 25 == 0)
            kept[round / 25] = list;
        values += sum(list);
    }
    for (int i = 0; i < ROUNDS / 25; i++)
        values += sum(kept[i]);
    printf("%ld\n", values);
    return 0;
}
