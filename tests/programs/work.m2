-- SPDX-License-Identifier: MIT
-- A workload for Macaulay2: Groebner bases, resolutions, matrices, big numbers, strings, explicit collections.
R = QQ[x,y,z,w]
I = ideal(x^3*y-z^2*w^2, x*y*z-w^3, y^4-x*z^2*w)
print numColumns gens gb I
print betti res I
print toString hilbertSeries I
L = apply(3000, i -> matrix{{i,i^2},{i+1,i^3}})
print sum(L, m -> det m)
print ((3^20000) % 1000000007)
scan(10, i -> (apply(20000, j -> {j, j+1}); collectGarbage()))
T = new MutableHashTable
scan(20000, i -> T#(toString (i % 700)) = {i})
print (#T, #L)
