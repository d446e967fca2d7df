;;; SPDX-License-Identifier: MIT
;;; A million calls deep, ten times: Guile moves its stack as it grows.  Prints the sum.
(define (depth n)
  (if (zero? n)
      0
      (+ 1 (depth (- n 1)))))
(let again ((times 10) (sum 0))
  (if (zero? times)
      (begin (display sum) (newline))
      (again (- times 1) (+ sum (depth 1000000)))))
