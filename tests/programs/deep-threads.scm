;;; SPDX-License-Identifier: MIT
;;; 64 threads in deep recursion at the same time.  Prints the sum.
(use-modules (ice-9 threads))
(define (depth n)
  (if (zero? n)
      0
      (+ 1 (depth (- n 1)))))
(define (work)
  (let again ((times 3) (sum 0))
    (if (zero? times)
        sum
        (again (- times 1) (+ sum (depth 20000))))))
(define threads
  (let make ((n 64) (all '()))
    (if (zero? n)
        all
        (make (- n 1) (cons (call-with-new-thread work) all)))))
(display (apply + (map join-thread threads)))
(newline)
