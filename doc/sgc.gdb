# SPDX-License-Identifier: MIT
# Commands for gdb: "source doc/sgc.gdb".  They read memory only and call nothing, so they work on a stopped
# world and on core dumps.  The library must have been built with -g.  See doc/debugging.md.  Two more need gdb's
# Python: doc/sgc-gdb.py.

# The signal that stops threads passes without a word.  With SGC_SUSPEND_SIGNAL set, say the same of that one.
handle SIGURG nostop noprint pass

# Two libraries of SGC in a process load this file twice, and gdb would ask whether to define a command again.
if $_isvoid($sgc_commands_are_there)
set $sgc_commands_are_there = 1

define sgc-threads
  set $sgc_m = sgc_registry.first
  while $sgc_m
    set $sgc_s = $sgc_m->cache.section.state.value
    printf "tid %d  cache %u  sp %#lx  stack %#lx-%#lx ", $sgc_m->tid, $sgc_m->cache.id, $sgc_m->sp, \
      $sgc_m->stack.low, $sgc_m->stack.high
    if $sgc_s & 1
      printf " blocked"
    end
    if $sgc_s & 2
      printf " asked"
    end
    if $sgc_s & 4
      printf " stopped"
    end
    if $sgc_s & 32
      printf " suspended"
    end
    if $sgc_m->cache.section.sp
      printf " in-section"
    end
    if $sgc_m->service
      printf " service"
    end
    printf "\n"
    set $sgc_m = $sgc_m->next
  end
end
document sgc-threads
Lists the registered threads: kernel thread id, number of the cache, where scanning began at the last stop, the
stack, and the state.
end

define sgc-object
  set $sgc_off = (unsigned long)($arg0) - sgc_heap.base
  if $sgc_off >= sgc_heap.limit.value
    printf "%#lx is not in the heap\n", (unsigned long)($arg0)
  else
    set $sgc_page = $sgc_off >> 16
    if sgc_heap.pages[$sgc_page].state.value == 4
      set $sgc_page = $sgc_page - sgc_heap.pages[$sgc_page].back
    end
    set $sgc_d = &sgc_heap.pages[$sgc_page]
    set $sgc_g = $sgc_page << 12
    if $sgc_d->state.value == 2
      set $sgc_g = $sgc_g + ($sgc_off % 65536 >> 4) / $sgc_d->granules * $sgc_d->granules
      set $sgc_bytes = $sgc_d->granules * 16
      set $sgc_bits = &sgc_heap.bits[$sgc_g / 64 * 2]
      set $sgc_bit = $sgc_g % 64
    else
      set $sgc_bytes = $sgc_d->span_bytes.value
      set $sgc_bits = &sgc_heap.span_bits[$sgc_page / 64 * 2]
      set $sgc_bit = $sgc_page % 64
    end
    if $sgc_d->state.value == 2 || $sgc_d->state.value == 3
      set $sgc_alloc = $sgc_bits[sgc_heap.alloc_role].value >> $sgc_bit & 1
      set $sgc_mark = $sgc_bits[1 - sgc_heap.alloc_role].value >> $sgc_bit & 1
      set $sgc_freed = sgc_heap.pages[$sgc_page].tag.value >> 32
      printf "object %#lx, %lu bytes, kind %d, page %lu, owner %lu, page epoch %lu of %u\n", \
        sgc_heap.base + $sgc_g * 16, (unsigned long)$sgc_bytes, $sgc_d->kind, (unsigned long)$sgc_page, \
        (unsigned long)$sgc_freed, (unsigned long)(sgc_heap.pages[$sgc_page].tag.value & 0xffffffff), sgc_heap.epoch
      printf "allocation bit %d, mark bit %d, remote bit %d\n", (int)$sgc_alloc, (int)$sgc_mark, \
        (int)($sgc_d->state.value == 2 && $sgc_d->remote.value && \
        (sgc_heap.remote_bits[$sgc_g / 64].value >> ($sgc_g % 64) & 1))
    else
      printf "page %lu holds no object (state %d)\n", (unsigned long)$sgc_page, $sgc_d->state.value
    end
  end
end
document sgc-object
sgc-object ADDRESS: the object that the address lies in, and its bits.
end

define sgc-heap
  printf "epoch %u, allocation bitmap %u, committed %lu MiB at %#lx, reserved %lu MiB\n", sgc_heap.epoch, \
    sgc_heap.alloc_role, (unsigned long)(sgc_heap.limit.value >> 20), sgc_heap.base, \
    (unsigned long)(sgc_heap.reserved >> 20)
  printf "pages of 64 KiB: %lu in use, %lu free with contents; %lu MiB given back so far\n", \
    (unsigned long)sgc_pool.in_use.value, (unsigned long)sgc_pool.dirty.value, \
    (unsigned long)(sgc_pool.returned.value >> 20)
  printf "stop %u: ", sgc_world.gen.value
  if sgc_world.gen.value & 1
    printf "the world is stopped or being stopped, %u threads missing", sgc_world.missing.value
  else
    printf "the world runs"
  end
  printf "; %u threads registered; GC lock held by thread %u, %u waiting\n", sgc_registry.count, (unsigned)gc_lock.word.value, \
    gc_lock.waiting.value
  if sgc_cycle.state.value != 0
    printf "a concurrent cycle has come to state %u of enum sgc_cycle_state", sgc_cycle.state.value
    if sgc_cycle.step != 0
      printf "; the lead's step: %s", sgc_cycle.step
    end
    printf "\n"
  end
end
document sgc-heap
The heap, the world and the GC lock in three lines, and one for a concurrent cycle, if there is one.
end

end
