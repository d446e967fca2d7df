# SPDX-License-Identifier: MIT
# Recursion, lists, attribute sets, strings: what evaluating packages does.
let
  inherit (builtins) genList foldl' length elemAt concatStringsSep attrNames listToAttrs sort substring stringLength toJSON fromJSON map filter hashString;
  fib = n: if n < 2 then n else fib (n - 1) + fib (n - 2);
  tree = depth: if depth == 0 then { leaf = true; } else { left = tree (depth - 1); right = tree (depth - 1); inherit depth; };
  count = t: if t ? leaf then 1 else count t.left + count t.right + t.depth;
  words = genList (i: substring 0 8 (hashString "sha256" (toString i))) 20000;
  table = listToAttrs (map (w: { name = w; value = { text = "<${w}>"; size = stringLength w; }; }) words);
  merged = foldl' (set: i: set // { "key${toString (i - (i / 500) * 500)}" = i; }) { } (genList (i: i) 6000);
  fixed = f: let x = f x; in x;
  package = self: { name = "package"; version = "1.${toString self.minor}"; minor = length words; full = "${self.name}-${self.version}"; };
in {
  fib = fib 25;
  tree = foldl' (sum: i: sum + count (tree 12)) 0 (genList (i: i) 30);
  table = length (attrNames table);
  sizes = foldl' (sum: name: sum + table.${name}.size) 0 (attrNames table);
  merged = merged;
  sorted = elemAt (sort (a: b: a < b) words) 777;
  text = hashString "md5" (concatStringsSep "," (filter (w: substring 0 1 w == "a") words));
  json = length (fromJSON (toJSON (genList (i: { inherit i; s = toString i; }) 20000)));
  package = (fixed package).full;
}
