// SPDX-License-Identifier: MIT
// The same with SGC's own headers for C++, which need libsgc alone, in the compiler's own standard: prints "1 1".
#include <sgc_cpp.h>
#if __cplusplus >= 201703L
#include <sgc_pmr.h>
#include <vector>
static std::pmr::vector<int> some_numbers() { return std::pmr::vector<int>(10, 1, sgc::resource()); }
#else
#include <gc/gc_allocator.h>
#include <vector>
static std::vector<int, gc_allocator<int> > some_numbers() { return std::vector<int, gc_allocator<int> >(10, 1); }
#endif
#include <cstdio>

struct Node : public gc {
    Node *next;
};

int main()
{
    SGC_init(0, NULL);
    Node *node = new Node;
    node->next = new Node;
    GC_collect();
    std::printf("%d %d\n", GC_base(node->next) == node->next, GC_base(&some_numbers()[0]) != NULL);
    return 0;
}
