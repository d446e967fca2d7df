/* SPDX-License-Identifier: MIT */
/*
 * A C++ program on the collector; tests/check/check_cpp compiles and runs it.  It prints what is wrong, or "all is well".
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc_allocator.h>
#include <gc/gc_cpp.h>
#include <gc/gc_mark.h>

#include <cstdio>
#include <list>
#include <map>
#include <new>
#include <vector>

static int wrong;

static void check(bool good, const char *what)
{
    if (good)
        return;
    std::printf("wrong: %s\n", what);
    wrong++;
}

static int kind(void *object) { return GC_get_kind_and_size(GC_base(object), NULL); }

struct node : public gc {
    node *next;
    int value;
    node(int v, node *n) : next(n), value(v) { }
};

struct thrower : public gc {
    thrower() { throw 1; }
};

static void check_classes()
{
    node *list = NULL;
    int sum = 0;

    for (int i = 0; i < 1000; i++)
        list = new node(i, list);
    GC_gcollect();
    for (node *n = list; n != NULL; n = n->next)
        sum += n->value;
    check(sum == 499500 && kind(list) == 1, "collected objects live while they are used");
    check(kind(new (NoGC) node(1, NULL)) == 2, "new (NoGC) of a class");
    check(kind(new node *[10]) == 2, "the global new[] is not collected");
    check(kind(new (GC) int[10]) == 1, "new (GC) of an array");
    check(kind(new (PointerFreeGC) double) == 0, "new (PointerFreeGC)");
    delete list;
    try {
        new thrower;
        check(false, "an exception of a constructor");
    } catch (int) {
    }
}

static void check_global()
{
    int *p = new int(5);

    check(kind(p) == 2, "the global new is the collector's");
    delete p;
    check(GC_base(p) == NULL, "and delete, too");
    try {
        volatile size_t much = (size_t)1 << 60;
        char *q = new char[much];
        check(q == NULL, "more memory than there is");
    } catch (std::bad_alloc &) {
    }
}

static void check_containers()
{
    std::vector<int *, traceable_allocator<int *> > traced;
    std::list<int, gc_allocator<int> > list;
    std::vector<double, gc_allocator_ignore_off_page<double> > numbers(100000, 1.5);
    std::map<int, node *, std::less<int>, gc_allocator<std::pair<const int, node *> > > map;
    int sum = 0;

    for (int i = 0; i < 1000; i++) {
        traced.push_back(new (GC) int(i));
        list.push_back(i);
        map[i] = new node(i, NULL);
    }
    GC_gcollect();
    for (int i = 0; i < 1000; i++)
        sum += *traced[i] + list.front() + map[i]->value;
    check(sum == 999000, "what containers hold is kept");
    check(kind(&traced[0]) == 2 && kind(&list.front()) == 1 && kind(&numbers[0]) == 0, "their memory is of the right kinds");
    check(gc_allocator<int>() == gc_allocator<char>(), "allocators are equal");
}

#if defined(GC_REGISTER_FINALIZER_IGNORE_SELF)
static int destroyed, cleaned;

struct guarded : public gc_cleanup {
    int value;
    guarded() : value(7) { }
    ~guarded() { destroyed += value; }
};

static void cleanup(void *, void *data) { cleaned += *(int *)data; }

static int one = 1;

static void *make_garbage(void *)
{
    for (int i = 0; i < 100; i++) {
        new guarded;
        new (GC, cleanup, &one) int(i);
    }
    delete new guarded;
    return NULL;
}

static void check_cleanup()
{
    pthread_t thread;

    GC_pthread_create(&thread, NULL, make_garbage, NULL);
    GC_pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        GC_gcollect();
        GC_invoke_finalizers();
    }
    check(destroyed > 7 * 90 && cleaned > 90, "destructors and cleanups run when objects are collected");
}
#else
static void check_cleanup() { std::printf("skipped: gc_cleanup, as this gc.h has no finalizers yet\n"); }
#endif

int main()
{
    GC_INIT();
    check_classes();
    check_global();
    check_containers();
    check_cleanup();
    if (wrong == 0)
        std::printf("all is well\n");
    return wrong;
}
