; Accesses of all kinds and orders.
source_filename = "orders.ll"
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

@x = global i32 0, align 4
@y = internal global i64 0, align 8
@p = global ptr null, align 8

define void @accesses() {
  %a = load i32, ptr @x, align 4
  %b = load volatile i32, ptr @x, align 4
  %c = load atomic i32, ptr @x unordered, align 4
  %d = load atomic i32, ptr @x monotonic, align 4
  %e = load atomic i32, ptr @x acquire, align 4
  %f = load atomic i64, ptr @y seq_cst, align 8
  %g = load atomic i32, ptr @x syncscope("singlethread") seq_cst, align 4
  store i64 1, ptr @y, align 8
  store atomic i32 2, ptr @x release, align 4
  store atomic volatile i32 3, ptr @x seq_cst, align 4
  store ptr @y, ptr @p, align 8
  ret void
}

define i1 @updates(ptr %to) {
  %a = atomicrmw add ptr @x, i32 1 monotonic
  %b = atomicrmw xchg ptr %to, i64 7 acq_rel
  %c = cmpxchg ptr @x, i32 1, i32 2 acq_rel monotonic
  %d = cmpxchg weak ptr @x, i32 1, i32 2 seq_cst seq_cst
  %e = atomicrmw or ptr @x, i32 4 syncscope("singlethread") seq_cst
  %f = extractvalue { i32, i1 } %c, 1
  ret i1 %f
}

define void @fences() {
  fence acquire
  fence release
  fence acq_rel
  fence seq_cst
  fence syncscope("singlethread") seq_cst
  ret void
}

; The branches go where the exchange succeeded, and where it did not.
define void @success(ptr %at) {
entry:
  br label %loop
loop:
  %a = cmpxchg weak ptr %at, i32 0, i32 1 acquire monotonic
  %done = extractvalue { i32, i1 } %a, 1
  br i1 %done, label %second, label %loop
second:
  %b = cmpxchg ptr %at, i32 1, i32 2 release monotonic
  %flag = extractvalue { i32, i1 } %b, 1
  %not = xor i1 %flag, true
  br i1 %not, label %second, label %third
third:
  %c = cmpxchg ptr %at, i32 2, i32 3 release monotonic
  %old = extractvalue { i32, i1 } %c, 0
  %same = icmp eq i32 %old, 2
  br i1 %same, label %fourth, label %third
fourth:
  %d = cmpxchg weak ptr %at, i32 3, i32 4 release monotonic
  %seen = extractvalue { i32, i1 } %d, 0
  %equal = icmp eq i32 %seen, 3
  br i1 %equal, label %end, label %fourth
end:
  ret void
}
