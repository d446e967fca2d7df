/* SPDX-License-Identifier: MIT */
/* Objective-C with its collected runtime (-lobjc_gc): trees of objects, most of which die. */
#include <objc/objc.h>
#include <objc/runtime.h>
#include <stdio.h>

__attribute__((objc_root_class)) @interface Node {
    Class isa;
    Node *left, *right;
}
+ (Node *)treeOf:(int)depth;
- (int)count;
@end

@implementation Node
+ (Node *)treeOf:(int)depth
{
    Node *made = class_createInstance(self, 0);

    if (depth > 1) {
        made->left = [Node treeOf:depth - 1];
        made->right = [Node treeOf:depth - 1];
    }
    return made;
}
- (int)count
{
    return 1 + (left != nil ? [left count] : 0) + (right != nil ? [right count] : 0);
}
@end

int main(void)
{
    Node *kept = [Node treeOf:12];
    long sum = 0;
    int i;

    for (i = 0; i < 400; i++)
        sum += [[Node treeOf:14] count];
    printf("%ld %d\n", sum, [kept count]);
    return 0;
}
