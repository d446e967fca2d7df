/* SPDX-License-Identifier: MIT */
/*
 * sgc_pmr.h: containers of std::pmr on the collector's heap.  tests/check/check_cpp compiles it from C++17 on; it prints what
 * is wrong, or "all is well".  With PLUGIN it becomes a shared library with a copy of the resources, whose path the program
 * is called with.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <sgc_pmr.h>

#if defined(PLUGIN)
extern "C" __attribute__((visibility("default"))) std::pmr::memory_resource *copy_of_resource() { return sgc::resource(); }
#else

#include <gc/gc_mark.h>

#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

static int wrong;

static void check(bool good, const char *what)
{
    if (good)
        return;
    std::printf("wrong: %s\n", what);
    wrong++;
}

static int kind(const void *object) { return GC_get_kind_and_size(GC_base(const_cast<void *>(object)), nullptr); }

static int *number(int n) { return new (GC_malloc_atomic(sizeof(int))) int(n); }

enum { MANY = 1000 };

/* Nothing but the containers holds the numbers. */
static void check_containers(std::pmr::memory_resource *resource, const char *name)
{
    std::pmr::vector<int *> vector(resource);
    std::pmr::map<int, int *> map(resource);
    std::pmr::unordered_map<std::pmr::string, int *> names(resource);
    long sum = 0;

    for (int i = 0; i < MANY; i++) {
        vector.push_back(number(i));
        map[i] = number(i);
        names[std::pmr::string("a long name that needs memory, number ") + std::to_string(i).c_str()] = number(i);
        vector.shrink_to_fit();
    }
    GC_gcollect();
    for (const int *n : vector)
        sum += *n;
    for (const auto &pair : map)
        sum += *pair.second;
    for (const auto &pair : names)
        sum += *pair.second;
    check(sum == 3L * MANY * (MANY - 1) / 2, name);
}

static void check_all_containers()
{
    std::pmr::monotonic_buffer_resource monotonic(sgc::resource());
    std::pmr::unsynchronized_pool_resource pool(sgc::resource());

    check_containers(sgc::resource(), "containers");
    check_containers(&monotonic, "containers on a monotonic buffer");
    check_containers(&pool, "containers on pools");
}

static void check_kinds()
{
    std::pmr::vector<double> numbers(100, 1.5, sgc::pointer_free_resource());
    std::pmr::vector<int *> pointers(100, sgc::resource());

    check(kind(numbers.data()) == 0 && kind(pointers.data()) == 1, "kinds");
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2)
        for (auto *resource : { sgc::resource(), sgc::pointer_free_resource() }) {
            void *object = resource->allocate(100, alignment);

            check(reinterpret_cast<uintptr_t>(object) % alignment == 0 && GC_base(object) == object &&
                  kind(object) == (resource == sgc::resource()), "alignment");
            resource->deallocate(object, 100, alignment);
            check(GC_base(object) == nullptr, "deallocation");
        }
}

static void check_equal(const char *plugin)
{
    std::pmr::vector<int> from(10, 7, sgc::resource()), to(sgc::pointer_free_resource()), same(sgc::resource());
    const int *data = from.data();

    check(*sgc::resource() == *sgc::resource() && *sgc::pointer_free_resource() == *sgc::pointer_free_resource(), "equal");
    check(*sgc::resource() != *sgc::pointer_free_resource() && *sgc::resource() != *std::pmr::new_delete_resource() &&
          *std::pmr::new_delete_resource() != *sgc::resource(), "not equal");
    to = from;
    check(kind(to.data()) == 0, "each stays with its resource");
    to = std::move(from);
    check(to.data() != data && to[9] == 7 && kind(to.data()) == 0, "also when it takes from another");
    from.assign(10, 8);
    data = from.data();
    same = std::move(from);
    check(same.data() == data, "with equal ones the memory moves");
    if (plugin != nullptr) {
        void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        void *copy = library != nullptr ? dlsym(library, "copy_of_resource") : nullptr;
        std::pmr::memory_resource *theirs = nullptr;

        check(copy != nullptr, "the plugin");
        if (copy != nullptr)
            theirs = reinterpret_cast<std::pmr::memory_resource *(*)()>(copy)();
        check(theirs != nullptr && theirs != sgc::resource() && *theirs == *sgc::resource() && *sgc::resource() == *theirs &&
              *theirs != *sgc::pointer_free_resource(), "a copy in a shared library is equal");
    }
}

/* ---- without memory ---- */

static int asked;
static void *last_resort;

static void *GC_CALLBACK ask(size_t)
{
    asked++;
    return last_resort;
}

static bool throws(std::pmr::memory_resource *resource, size_t alignment)
{
    try {
        resource->deallocate(resource->allocate(static_cast<size_t>(1) << 60, alignment), 0, alignment);
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

static void check_no_memory()
{
    GC_oom_func old = GC_get_oom_fn();

    GC_set_oom_fn(ask);
    check(throws(sgc::resource(), 8) && throws(sgc::pointer_free_resource(), 8) && throws(sgc::resource(), 64) &&
          throws(sgc::pointer_free_resource(), 64), "std::bad_alloc");
    check(asked == 4, "after the hook was asked");
    last_resort = GC_malloc(100);
    check(sgc::resource()->allocate(static_cast<size_t>(1) << 60) == last_resort, "which may help");
    GC_set_oom_fn(old);
}

/* ---- what nothing leads to ---- */

static uintptr_t dropped[100];

static void *drop(void *)
{
    for (int i = 0; i < 100; i++)
        dropped[i] = ~reinterpret_cast<uintptr_t>(
            (i % 2 ? sgc::resource() : sgc::pointer_free_resource())->allocate(10000, 16 << i % 4));
    return nullptr;
}

static void check_collected()
{
    pthread_t thread;
    int gone = 0;

    GC_pthread_create(&thread, nullptr, drop, nullptr);
    GC_pthread_join(thread, nullptr);
    GC_gcollect();
    for (uintptr_t hidden : dropped)
        gone += GC_base(reinterpret_cast<void *>(~hidden)) == nullptr;
    check(gone > 90, "what nothing leads to is collected");
}

/* Destroyed after main, when a resource that is a static object might be gone. */
static std::pmr::vector<int> last(sgc::resource());

int main(int, char **arguments)
{
    GC_INIT();
    last.assign(1000, 3);
    check_all_containers();
    check_kinds();
    check_equal(arguments[1]);
    check_no_memory();
    check_collected();
    if (wrong == 0)
        std::printf("all is well\n");
    return wrong;
}
#endif
