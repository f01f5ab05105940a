; Joined with second.ll.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

@shared = global i32 0, align 4
@private = internal global i32 1, align 4
@hook = external global ptr

declare void @second(ptr)
declare void @renamed()

define void @first() {
  call void @helper()
  call void @inlined()
  call void @renamed()
  call void @second(ptr @private)
  store i32 1, ptr @shared, align 4
  %f = load ptr, ptr @hook, align 8
  call void %f()
  ret void
}

define internal void @helper() {
  store i32 1, ptr @private, align 4
  ret void
}

define linkonce_odr void @inlined() {
  store i32 2, ptr @shared, align 4
  ret void
}
