; Joined with first.ll.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

@hook = global ptr @helper, align 8
@shared = external global i32
@private = internal global i32 2, align 4
@renamed = alias void (), ptr @real

declare void @first()

define void @second(ptr %p) {
  call void @first()
  call void @inlined()
  store i32 2, ptr %p, align 4
  ret void
}

define internal void @helper() {
  store i32 2, ptr @private, align 4
  ret void
}

define linkonce_odr void @inlined() {
  store i32 2, ptr @shared, align 4
  ret void
}

define void @real() {
  fence seq_cst
  ret void
}
