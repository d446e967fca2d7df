[+ AutoGen5 template txt=%s.txt
# SPDX-License-Identifier: MIT
# A workload for AutoGen: texts made by Guile.
+][+ (define (squares n) (map (lambda (i) (* i i)) (iota n)))
(define (text n) (string-join (map number->string (squares n)) ",")) +]
[+ FOR list +][+ name +]
[+ (for-each
     (lambda (i)
       (emit (string-upcase (get "name")) " " (number->string i) " "
             (number->string (apply + (string->number (get "value")) (squares (+ 200 i)))) " "
             (number->string (length (string-split (text 300) #\,))) "\n"))
     (iota 300)) +]
[+ ENDFOR list +]
