// SPDX-License-Identifier: MIT
// The same for C++, with what gc_cpp.h's library has: prints "1 1".
#include <gc_cpp.h>
#include <cstdio>

struct Node: public gc {
    Node *next = nullptr;
};

int main()
{
    GC_INIT();
    Node *node = new Node;
    node->next = new Node;
    char *text = new char[40];      // gc_cpp.h's, from the collected heap
    GC_gcollect();
    std::printf("%d %d\n", GC_base(node->next) == node->next, GC_base(text) == text);
    return 0;
}
