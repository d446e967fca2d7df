// SPDX-License-Identifier: MIT
/*
 * For tests/check/check_names: objects of 21 classes, with single, multiple and virtual inheritance, templates, a local class
 * and a hidden one; prints the address of each and the class that a heap snapshot should have for it, and writes one.
 */
#include <sgc.h>
#include <gc_cpp.h>

#include <cstdio>
#include <string>
#include <typeinfo>

struct Base : gc { virtual ~Base() {} long number = 1; };
struct Single : Base { long more = 2; };
struct Deeper : Single { void *last = nullptr; };
struct Other { virtual void other() {} Base *pointer = nullptr; };
struct Multiple : Base, Other { };
struct MultipleTurned : Other, Base { };
struct LeftOf : virtual Base { long left = 0; };
struct RightOf : virtual Base { long right = 0; };
struct Diamond : LeftOf, RightOf { long own = 0; };
struct VirtualOnly : virtual Other, gc { };
struct Abstract : gc { virtual int answer() = 0; };
struct Concrete : Abstract { int answer() override { return 42; } };

template <class T> struct Holder : gc { virtual T get() { return held; } T held{}; };
template <class T, int n> struct Row : Holder<T> { T more[n]; };

namespace deep::er { struct Inside : Base { }; template <class T> struct Shape : Inside { T corner{}; }; }
namespace { struct Hidden : Base { }; }

struct Cleaned : gc_cleanup { long bytes[3]; };
struct Large : Base { char body[100000]; };

static void *volatile kept[128];
static long numbers[5] = { 1, 2, 3, 4, 5 };
static int used;

template <class T> static void keep(T *object, const char *name)
{
    kept[used++] = dynamic_cast<void *>(object);
    std::printf("%p %s\n", dynamic_cast<void *>(object), name);
}

/* Two of each. */
#define KEEP(...) (keep(new __VA_ARGS__, #__VA_ARGS__), keep(new __VA_ARGS__, #__VA_ARGS__))

int main(int argc, char **argv)
{
    struct Local : Base { };

    GC_INIT();
    KEEP(Base); KEEP(Single); KEEP(Deeper); KEEP(Multiple); KEEP(MultipleTurned); KEEP(LeftOf); KEEP(RightOf); KEEP(Diamond);
    KEEP(VirtualOnly); KEEP(Concrete); KEEP(Cleaned); KEEP(Large);
    KEEP(Holder<int>); KEEP(Holder<Base*>); KEEP(Row<char, 7>); KEEP(Row<long, 2000>); KEEP(Holder<Holder<double> >);
    KEEP(deep::er::Inside); KEEP(deep::er::Shape<short>);
    for (int i = 0; i < 2; i++) {
        keep(new Hidden, "(anonymous namespace)::Hidden");
        keep(new Local, "main::Local");
    }
    keep(new (NoGC) Single, "Single");
    keep(new (GC_MALLOC(sizeof(Base))) Base, "Base");
    for (int i = 0; i < 5; i++) {
        void **object = static_cast<void **>(GC_MALLOC(48));

        *object = i == 0 ? nullptr : &numbers[i];
        kept[used++] = object;
        std::printf("%p -\n", static_cast<void *>(object));
    }
    return argc > 1 ? SGC_write_heap_snapshot(argv[1]) : 0;
}
