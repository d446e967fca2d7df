% SPDX-License-Identifier: MIT
% A workload for LilyPond, which is Guile and C++: three staves of sixty bars.
\version "2.24.0"
\header { tagline = ##f }
#(set-global-staff-size 16)
bars = { \repeat unfold 60 { c'8 d' e' f' g' a' b' c'' c''4 <c' e' g'> r8 f'16 g' a'8 b' } }
\score {
  << \new Staff \bars \new Staff \transpose c c, \bars \new Staff \transpose c e \bars >>
  \layout { }
}
