/* SPDX-License-Identifier: MIT */
/*
 * Containers of C++11 and later with the allocators of gc_allocator.h: they hold what they should, in memory of the right
 * kind, and are moved, not copied.  tests/check/check_cpp compiles it for each standard, and with GC_NAMESPACE_ALLOCATOR;
 * it prints what is wrong, or "all is well".
 */
#include <gc/gc_allocator.h>
#include <gc/gc_mark.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(GC_NAMESPACE_ALLOCATOR)
using boehmgc::gc_allocator;
using boehmgc::gc_allocator_ignore_off_page;
using boehmgc::traceable_allocator;
#endif

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

/* What all containers of C++ hold, for an allocator A of any elements. */
template <template <class> class A> struct containers {
    std::vector<int *, A<int *>> vector;
    std::deque<int *, A<int *>> deque;
    std::list<int *, A<int *>> list;
    std::map<int, int *, std::less<int>, A<std::pair<const int, int *>>> map;
    std::set<int *, std::less<int *>, A<int *>> set;
    std::unordered_map<int, int *, std::hash<int>, std::equal_to<int>, A<std::pair<const int, int *>>> hashed;
    std::basic_string<char, std::char_traits<char>, A<char>> text;
    std::vector<std::vector<int *, A<int *>>, A<std::vector<int *, A<int *>>>> nested;
    std::shared_ptr<int *> shared;

    enum { MANY = 300 };

    void fill()
    {
        for (int i = 0; i < MANY; i++) {
            vector.push_back(number(i));
            deque.push_front(number(i));
            list.emplace_back(number(i));
            map[i] = number(i);
            set.insert(number(i));
            hashed.emplace(i, number(i));
            text += static_cast<char>('a' + i % 26);
            nested.emplace_back(10, number(i));
            nested.back().shrink_to_fit();
        }
        shared = std::allocate_shared<int *>(A<int *>(), number(MANY));
        nested.erase(nested.begin(), nested.begin() + MANY / 2);
    }

    bool is_full() const
    {
        long sum = 0;

        for (const int *n : vector)
            sum += *n;
        for (const int *n : deque)
            sum += *n;
        for (const int *n : list)
            sum += *n;
        for (const auto &pair : map)
            sum += *pair.second;
        for (const int *n : set)
            sum += *n;
        for (const auto &pair : hashed)
            sum += *pair.second;
        return sum == 6L * MANY * (MANY - 1) / 2 && text.size() == MANY && text[27] == 'b' && **shared == MANY &&
               nested.size() == MANY / 2 && *nested[0][9] == MANY / 2;
    }
};

template <template <class> class A> static void check_containers(const char *name, int scanned, int pointer_free)
{
    containers<A> filled;

    filled.fill();
    for (int i = 0; i < 2; i++)
        GC_gcollect();
    check(filled.is_full(), name);
    check(kind(&filled.vector[0]) == scanned && kind(&filled.list.front()) == scanned && kind(filled.shared.get()) == scanned,
          "memory that is scanned");
    check(kind(filled.text.data()) == pointer_free, "memory without pointers");
}

/* Containers in memory of malloc's, where the collector does not see them. */
static void check_traceable()
{
    static unsigned char *hidden;
    typedef containers<traceable_allocator> traced;
    void *place = std::malloc(sizeof(traced));

    hidden = reinterpret_cast<unsigned char *>(~reinterpret_cast<uintptr_t>(::new (place) traced));
    static_cast<traced *>(place)->fill();
    place = nullptr;
    GC_gcollect();
    place = reinterpret_cast<void *>(~reinterpret_cast<uintptr_t>(hidden));
    check(static_cast<traced *>(place)->is_full(), "containers outside the heap");
    static_cast<traced *>(place)->~traced();
    std::free(place);
}

/* ---- kinds and alignment ---- */

enum colour { RED };

template <class T> static int kind_of() { return kind(gc_allocator<T>().allocate(3)); }

static void check_kinds()
{
    check(kind_of<bool>() == 0 && kind_of<long long>() == 0 && kind_of<unsigned long long>() == 0 && kind_of<wchar_t>() == 0 &&
          kind_of<char16_t>() == 0 && kind_of<char32_t>() == 0 && kind_of<double>() == 0, "arithmetic types have no pointers");
#if defined(__cpp_char8_t)
    check(kind_of<char8_t>() == 0, "nor has char8_t");
#endif
#if defined(__cpp_lib_byte)
    check(kind_of<std::byte>() == 1, "std::byte may be anything");
#endif
    check(kind_of<colour>() == 1 && kind_of<void *>() == 1 && kind_of<std::pair<int, int>>() == 1, "other types may have some");
}

struct alignas(128) wide {
    void *pointer;
};

template <template <class> class A> static void check_aligned(int wanted)
{
    std::vector<wide, A<wide>> several(5);
    std::map<int, wide, std::less<int>, A<std::pair<const int, wide>>> map;

    map[3].pointer = &map;
    check(reinterpret_cast<uintptr_t>(several.data()) % 128 == 0 && reinterpret_cast<uintptr_t>(&map[3]) % 128 == 0,
          "elements are aligned");
    check(kind(several.data()) == wanted && kind(&map[3]) == wanted, "and of the right kind");
}

/* ---- what the standard asks of allocators ---- */

struct counted {
    static int copies;
    int *value;
    explicit counted(int *v) : value(v) { }
    counted(const counted &other) : value(other.value) { copies++; }
    counted(counted &&other) noexcept : value(other.value) { other.value = nullptr; }
    counted &operator=(const counted &) = default;
};

int counted::copies;

static void check_moves()
{
    typedef std::vector<counted, gc_allocator<counted>> vector;
    typedef std::allocator_traits<gc_allocator<int>> traits;
    std::vector<std::unique_ptr<int>, gc_allocator<std::unique_ptr<int>>> owners;
    vector from, to;
    const counted *data;

    for (int i = 0; i < 100; i++)
        from.emplace_back(number(i));
    check(counted::copies == 0, "elements are moved");
    data = from.data();
    to = std::move(from);
    check(to.data() == data && counted::copies == 0, "a container is moved by its memory");
    from.swap(to);
    check(from.data() == data, "and swapped");
    owners.push_back(std::unique_ptr<int>(new int(1)));
    owners.push_back(std::unique_ptr<int>(new int(2)));
    check(*owners[0] == 1, "elements that can only be moved");
    static_assert(traits::is_always_equal::value, "instances are equal");
    static_assert(std::is_same<traits::rebind_alloc<char>, gc_allocator<char>>::value, "rebind");
#if __cplusplus >= 201703L
    static_assert(std::is_nothrow_move_assignable<vector>::value, "moving does not throw");
#endif
    check(gc_allocator<int>() == gc_allocator<char>() && !(gc_allocator<int>() != gc_allocator<int>()), "instances are equal");
    gc_allocator<int> assigned;
    assigned = gc_allocator<int>(gc_allocator<char>());
    check(gc_allocator<char>(assigned) == gc_allocator<char>(), "and become each other");
}

static void check_too_much()
{
    volatile size_t much = SIZE_MAX / sizeof(long) + 2;

    try {
        gc_allocator<long>().allocate(much);
        check(false, "a size that wraps");
    } catch (const std::bad_alloc &) {
    }
    try {
        gc_allocator<wide>().allocate(static_cast<size_t>(1) << 50);
        check(false, "more than there is");
    } catch (const std::bad_alloc &) {
    }
}

#if defined(__cpp_lib_constexpr_vector)
constexpr int sum_to(int n)
{
    std::vector<int, gc_allocator<int>> numbers;
    int sum = 0;

    for (int i = 1; i <= n; i++)
        numbers.push_back(i);
    for (int i : numbers)
        sum += i;
    return sum;
}
static_assert(sum_to(100) == 5050, "a constant expression");
#endif

int main()
{
    GC_INIT();
    check_containers<gc_allocator>("gc_allocator", 1, 0);
    check_containers<gc_allocator_ignore_off_page>("gc_allocator_ignore_off_page", 1, 0);
    check_containers<traceable_allocator>("traceable_allocator", 2, 2);
    check_traceable();
    check_kinds();
    check_aligned<gc_allocator>(1);
    check_aligned<gc_allocator_ignore_off_page>(1);
    check_aligned<traceable_allocator>(2);
    check_moves();
    check_too_much();
    if (wrong == 0)
        std::printf("all is well\n");
    return wrong;
}
