# SPDX-License-Identifier: MIT
# A workload for what Crystal's compiler makes: trees, hash tables, strings, fibers (whose stacks the program pushes in a
# hook of each collection), finalizers, weak references, exceptions.
require "weak_ref"

class Node
  property left : Node?, right : Node?

  def initialize(@left, @right); end
end

def tree(depth) : Node
  depth == 0 ? Node.new(nil, nil) : Node.new(tree(depth - 1), tree(depth - 1))
end

def count(node : Node?) : Int32
  node ? 1 + count(node.left) + count(node.right) : 0
end

class Counted
  @@finalized = 0
  class_getter finalized

  def initialize(@n : Int32); end

  def finalize
    @@finalized += 1
  end
end

keep = tree(14)
puts "trees #{Array.new(20) { count(tree(12)) }.sum} #{count(keep)}"

table = Hash(String, Array(Int32)).new { |hash, key| hash[key] = [] of Int32 }
100_000.times { |i| table["key #{i % 5000}"] << i }
puts "table #{table.size} #{table.values.sum(&.size)} #{table["key 17"].sum}"

channel = Channel(Int32).new
100.times { |i| spawn { t = tree(8); Fiber.yield; channel.send count(t) + i } }
puts "fibers #{Array.new(100) { channel.receive }.sum}"

def drop
  2000.times { |i| Counted.new(i) }
end

drop
5.times { GC.collect; tree(10) }
puts "finalized #{Counted.finalized > 1000}"

kept = Array.new(1000) { |i| "string #{i}" * 10 }
weak = kept.map { |s| WeakRef.new(s) }
GC.collect
puts "weak #{weak.count { |w| w.value }} #{kept.size}"

failed = 0
1000.times do |i|
  begin
    raise "odd #{tree(4).object_id > 0}" if i.odd?
  rescue
    failed += 1
  end
end
puts "exceptions #{failed}"
puts "kept #{count(keep)}"
