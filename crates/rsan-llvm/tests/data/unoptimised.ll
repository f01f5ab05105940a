; As compilers write it without optimisation: every variable has a place in memory.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

@flag = global i32 0, align 4

define void @wait(ptr %queue) noinline optnone {
entry:
  %variable = alloca ptr, align 8
  %done = alloca i8, align 1
  store ptr %queue, ptr %variable, align 8
  br label %again
again:
  %exchange = cmpxchg weak ptr @flag, i32 0, i32 1 acquire monotonic
  %success = extractvalue { i32, i1 } %exchange, 1
  %byte = zext i1 %success to i8
  store i8 %byte, ptr %done, align 1
  %known = load i8, ptr %done, align 1
  %bit = trunc i8 %known to i1
  %not = xor i1 %bit, true
  br i1 %not, label %again, label %end
end:
  %queue.again = load ptr, ptr %variable, align 8
  store i32 1, ptr %queue.again, align 4
  ret void
}
