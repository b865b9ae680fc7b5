;; Says no to every message that carries the word CONFIDENTIAL.
;;
;; A module exports its memory, `alloc`, which makes room for the question, and `guard`, which reads the question and
;; returns where its verdict stands: the address in the upper half of the number, the length in the lower.
(module
  (memory (export "memory") 1)

  (data (i32.const 16) "CONFIDENTIAL")
  (data (i32.const 64) "{\"verdict\":\"allow\"}")
  (data (i32.const 128) "{\"verdict\":\"deny\",\"category\":\"marking\",\"message\":\"the word CONFIDENTIAL\"}")

  (func $packed (param $at i32) (param $length i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32))
      (i64.extend_i32_u (local.get $length))))

  ;; Every instance answers one question, so that nothing ever has to be freed. 0 says that there is no room.
  (func (export "alloc") (param $length i32) (result i32)
    (local $page i32)
    (local.set $page
      (memory.grow (i32.add (i32.shr_u (local.get $length) (i32.const 16)) (i32.const 1))))
    (if (result i32) (i32.eq (local.get $page) (i32.const -1))
      (then (i32.const 0))
      (else (i32.shl (local.get $page) (i32.const 16)))))

  ;; Whether the word stands at this address.
  (func $is_word (param $at i32) (result i32)
    (local $i i32)
    (loop $next
      (if (i32.ne
            (i32.load8_u (i32.add (local.get $at) (local.get $i)))
            (i32.load8_u (i32.add (i32.const 16) (local.get $i))))
        (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 12))))
    (i32.const 1))

  (func (export "guard") (param $at i32) (param $length i32) (result i64)
    (local $end i32)
    (local.set $end (i32.sub (i32.add (local.get $at) (local.get $length)) (i32.const 11)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (call $is_word (local.get $at))
          (then (return (call $packed (i32.const 128) (i32.const 73)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (call $packed (i32.const 64) (i32.const 19))))
