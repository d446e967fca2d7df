;;; SPDX-License-Identifier: MIT
;;; A workload for ECL: trees, big numbers, hash tables, closures compiled at run time, strings, threads.  What it prints
;;; does not depend on when collections happen.
(defun make-tree (depth)
  (if (zerop depth) nil (cons (make-tree (1- depth)) (make-tree (1- depth)))))
(defun count-tree (tree)
  (if (null tree) 1 (+ (count-tree (car tree)) (count-tree (cdr tree)))))

(defvar *keep* (make-tree 12))
(format t "trees ~a ~a~%" (loop repeat 10 sum (count-tree (make-tree 11))) (count-tree *keep*))

(defun factorial (n) (if (zerop n) 1 (* n (factorial (1- n)))))
(format t "factorial ~a~%" (mod (factorial 400) 1000000007))

(let ((table (make-hash-table :test #'equal)))
  (dotimes (i 5000) (setf (gethash (format nil "key ~a" i) table) (make-array 5 :initial-element i)))
  (format t "table ~a ~a~%" (hash-table-count table)
          (loop for v being the hash-values of table sum (aref v 2))))

(ext:install-bytecodes-compiler)
(let ((f (compile nil '(lambda (n) (let ((sum 0)) (dotimes (i n sum) (incf sum (length (make-list (mod i 17))))))))))
  (format t "compiled ~a~%" (funcall f 20000)))

(format t "strings ~a~%"
        (length (with-output-to-string (s) (dotimes (i 3000) (format s "line ~a of ~r;" i (mod i 100))))))

#+threads
(let ((processes (loop for n from 1 to 3
                       collect (let ((n n)) (mp:process-run-function 'worker
                                 (lambda () (loop repeat (* 4 n) sum (count-tree (make-tree 9)))))))))
  (format t "threads ~a~%" (loop for p in processes collect (mp:process-join p))))
(format t "kept ~a~%" (count-tree *keep*))
(ext:quit 0)
