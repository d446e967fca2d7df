/* SPDX-License-Identifier: MIT */
/*
 * A C++ program on the collector; tests/check/check_cpp compiles and runs it, with CPP_PEER against bdwgc's headers.  It prints
 * what is wrong, or "all is well".
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

/* That of an object that may be freed meanwhile, as the compiler must not know. */
static size_t address(void *object)
{
    volatile size_t where = reinterpret_cast<size_t>(object);

    return where;
}
static bool is_gone(size_t where) { return GC_base(reinterpret_cast<void *>(where)) == NULL; }

/* More than any machine has; the compiler must not know. */
static volatile size_t much = static_cast<size_t>(1) << 60;

struct node : public gc {
    node *next;
    int value;
    node(int v = 0, node *n = NULL) : next(n), value(v) { }
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

#if defined(GC_OPERATOR_NEW_NOTHROW)
static void check_nothrow()
{
    node *one = new (std::nothrow) node(1, NULL), *several = new (std::nothrow) node[3];

    check(kind(one) == 1 && kind(several) == 1, "new (std::nothrow) of a class");
    check(static_cast<void *>(new (std::nothrow) node[much / sizeof(node)]) == NULL, "which is NULL without memory");
    try {
        new (std::nothrow) thrower;
        check(false, "an exception of a constructor, with nothrow");
    } catch (int) {
    }
    size_t where[2] = { address(one), address(several) };
    delete one;
    delete[] several;
    check(is_gone(where[0]) && is_gone(where[1]), "is deleted");
}
#else
static void check_nothrow() { }
#endif

static void check_global()
{
    int *p = new int(5);
    static char *volatile q;
    size_t where;

    check(kind(p) == 2, "the global new is the collector's");
    where = address(p);
    delete p;
    check(is_gone(where), "and delete, too");
    try {
        q = new char[much];
        check(q == NULL, "more memory than there is");
    } catch (std::bad_alloc &) {
    }
    q = new (std::nothrow) char[much];
    check(q == NULL, "more memory than there is is NULL with nothrow");
    p = new (std::nothrow) int(6);
    check(kind(p) == 2, "the global new (std::nothrow) is the collector's");
    where = address(p);
    ::operator delete(p, std::nothrow);
    check(is_gone(where), "and its delete, too");
#if __cplusplus >= 201402L && (!defined(__clang__) || defined(__cpp_sized_deallocation))
    p = new int(7);
    where = address(p);
    ::operator delete(p, sizeof(int));
    check(is_gone(where), "and delete with the size");
#endif
}

/* ---- more alignment than usual ---- */

#if defined(__cpp_aligned_new)
static bool is_aligned(void *object, size_t alignment) { return address(object) % alignment == 0; }

struct alignas(64) wide {
    int value[16];
};

static void check_aligned_global()
{
    wide *one = new wide, *several = new wide[3], *quiet = new (std::nothrow) wide;

    check(is_aligned(one, 64) && is_aligned(several, 64) && is_aligned(quiet, 64) && kind(one) == 2 && kind(several) == 2 &&
          kind(quiet) == 2, "the global new aligns, and is the collector's");
    size_t where[2] = { address(one), address(several) };
    delete one;
    delete[] several;
    check(is_gone(where[0]) && is_gone(where[1]), "and such a delete, too");
    try {
        wide *volatile none = new wide[much / sizeof(wide)];
        check(none == NULL, "more aligned memory than there is");
    } catch (std::bad_alloc &) {
    }
}
#else
static void check_aligned_global() { }
#endif

#if defined(__cpp_aligned_new) && !defined(CPP_PEER)
struct wide_node : public gc, public wide { };
struct wide_guarded : public gc_cleanup, public wide { };
struct wide_thrower : public gc, public wide {
    wide_thrower() { throw 1; }
};

static void is_wide(void *object, int wanted, const char *what)
{
    check(is_aligned(object, 64) && kind(object) == wanted, what);
}

static void check_aligned_classes()
{
    wide_node *one = new wide_node, *several = new wide_node[3];

    is_wide(one, 1, "an aligned class");
    is_wide(several, 1, "an array of an aligned class");
    is_wide(new (NoGC) wide_node, 2, "new (NoGC) of an aligned class");
    is_wide(new (std::nothrow) wide_node, 1, "new (std::nothrow) of an aligned class");
    is_wide(new (GC) wide, 1, "new (GC) of an aligned type");
    is_wide(new (PointerFreeGC) wide[5], 0, "new (PointerFreeGC) of aligned types");
    is_wide(new wide_guarded, 1, "an aligned class with a cleanup");
    size_t where[2] = { address(one), address(several) };
    delete one;
    delete[] several;
    delete new wide_guarded;
    check(is_gone(where[0]) && is_gone(where[1]), "aligned objects are deleted");
    try {
        new wide_thrower;
        check(false, "an exception of an aligned constructor");
    } catch (int) {
    }
}
#else
static void check_aligned_classes() { }
#endif

/* ---- containers ---- */

#if !defined(CPP_PEER)
/* As programs do for bdwgc, which scans these. */
GC_DECLARE_PTRFREE(bool);
GC_DECLARE_PTRFREE(wchar_t);

struct plain { int value; };
struct linked { int *value; };
GC_DECLARE_PTRFREE(plain);

template <class T> static int kind_of() { return kind(gc_allocator<T>().allocate(3)); }

static void check_pointer_free()
{
    check(kind_of<bool>() == 0 && kind_of<wchar_t>() == 0 && kind_of<plain>() == 0, "what the program calls pointer-free is");
    check(kind_of<int *>() == 1 && kind_of<linked>() == 1, "other types are not");
}
#else
static void check_pointer_free() { }
#endif

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

/* Not by bdwgc's headers. */
#if !defined(CPP_PEER)
struct with_part : public gc_cleanup {
    guarded *part;
    char place[sizeof(guarded)];
    with_part() : part(new (place) guarded) { }
    ~with_part() { with_parts_destroyed++; }
    static int with_parts_destroyed;
};
int with_part::with_parts_destroyed;

struct throws_third {
    long words[8];
    throws_third() { if (++made % 3 == 0) throw 1; }
    static int made;
};
int throws_third::made;

static void *make_more_garbage(void *)
{
    guarded first;

    for (int i = 0; i < 100; i++) {
        new guarded(first);
        with_part *whole = new with_part;
        whole->part->~guarded();
        try {
            ::new (GC, cleanup, &one) throws_third[4];
        } catch (int) {
        }
    }
    return NULL;
}

static void *GC_CALLBACK throw_out(size_t) { throw 1; }

static void check_more_cleanup()
{
    pthread_t thread;
    int before;

    cleaned = 0;
    GC_pthread_create(&thread, NULL, make_more_garbage, NULL);
    GC_pthread_join(thread, NULL);
    before = destroyed;
    for (int i = 0; i < 3; i++) {
        GC_gcollect();
        GC_invoke_finalizers();
    }
    check(destroyed - before > 7 * 90, "destructors of copies run");
    check(with_part::with_parts_destroyed > 90, "and those of objects of which a part was destroyed before");
    check(cleaned == 0, "cleanups of arrays that were not constructed do not run");
}

static void check_throwing_hook()
{
    void *(GC_CALLBACK *old)(size_t) = GC_get_oom_fn();

    GC_set_oom_fn(throw_out);
    check(static_cast<void *>(new (std::nothrow) char[much]) == NULL, "new (std::nothrow) is NULL if the hook throws");
#if defined(GC_OPERATOR_NEW_NOTHROW)
    check(static_cast<void *>(new (std::nothrow) node[much / sizeof(node)]) == NULL, "and that of a class");
#endif
    GC_set_oom_fn(old);
}
#else
static void check_more_cleanup() { }
static void check_throwing_hook() { }
#endif

int main()
{
    GC_INIT();
    check_classes();
    check_nothrow();
    check_global();
    check_aligned_global();
    check_aligned_classes();
    check_pointer_free();
    check_containers();
    check_cleanup();
    check_more_cleanup();
    check_throwing_hook();
    if (wrong == 0)
        std::printf("all is well\n");
    return wrong;
}
