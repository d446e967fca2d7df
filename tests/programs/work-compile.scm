;; SPDX-License-Identifier: MIT
;; A workload for Guile's compiler, which is written in Scheme: a module of Guile's own, compiled to a file.
(use-modules (system base compile))
(compile-file (%search-load-path "srfi/srfi-1.scm") #:output-file "work.go")
(display "compiled\n")
