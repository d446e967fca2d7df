;; SPDX-License-Identifier: MIT
;; A workload for Guile: trees, big numbers, strings, closures and continuations, weak tables, guardians, threads.  What it
;; prints does not depend on when collections happen.
(use-modules (ice-9 threads) (ice-9 format) (srfi srfi-1))

(define (make-tree depth)
  (if (= depth 0) '() (cons (make-tree (- depth 1)) (make-tree (- depth 1)))))
(define (count-tree tree)
  (if (null? tree) 1 (+ (count-tree (car tree)) (count-tree (cdr tree)))))

(define keep (make-tree 14))
(format #t "trees ~a ~a~%"
        (fold + 0 (map (lambda (i) (count-tree (make-tree 12))) (iota 40)))
        (count-tree keep))

(define (factorial n) (if (= n 0) 1 (* n (factorial (- n 1)))))
(format #t "digits of 1500! ~a ~a~%"
        (string-length (number->string (factorial 1500)))
        (modulo (factorial 1500) 1000000007))

(define text
  (with-output-to-string
    (lambda () (for-each (lambda (i) (format #t "line ~a of ~a;" i (* i i))) (iota 3000)))))
(format #t "text ~a ~a~%" (string-length text) (length (string-split text #\;)))

(define table (make-hash-table))
(for-each (lambda (i) (hash-set! table (number->string i) (make-vector 5 i))) (iota 20000))
(format #t "table ~a~%" (hash-fold (lambda (key value sum) (+ sum (vector-ref value 3))) 0 table))

(define weak (make-weak-key-hash-table))
(define kept (map (lambda (i) (let ((key (list i))) (hashq-set! weak key (* 2 i)) key)) (iota 1000)))
(for-each (lambda (i) (hashq-set! weak (list i) i)) (iota 1000))
(gc)
(format #t "weak ~a~%" (fold + 0 (map (lambda (key) (hashq-ref weak key)) kept)))

(define guardian (make-guardian))
(define (drop n) (if (> n 0) (begin (guardian (make-vector 100 n)) (drop (- n 1)))))
(drop 200)
(make-tree 14)
(gc)
(gc)
(define saved (let loop ((n 0)) (if (guardian) (loop (+ n 1)) n)))
(format #t "guardian ~a~%" (if (> saved 150) "gave most back" saved))

(define results
  (par-map (lambda (n) (fold + 0 (map (lambda (i) (count-tree (make-tree 10))) (iota n)))) '(10 20 30 40)))
(format #t "threads ~a~%" results)

(define (generate n)
  (let ((sum 0))
    (for-each (lambda (i) (set! sum (+ sum (call/cc (lambda (k) (if (odd? i) (k i) (* 2 i))))))) (iota n))
    sum))
(format #t "continuations ~a ~a~%" (generate 20000) (count-tree keep))
