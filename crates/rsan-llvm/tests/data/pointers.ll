; Where pointers come from.
target datalayout = "e-m:e-p:64:64-i64:64-n8:16:32:64-S128"

%node = type { i32, ptr, [4 x i16] }

@array = global [8 x i64] zeroinitializer, align 8
@table = constant [2 x ptr] [ptr @callback, ptr getelementptr (i8, ptr @array, i64 16)], align 8
@mine = thread_local global i32 0, align 4
@other = alias [8 x i64], ptr @array
@outside = external global ptr

define internal void @callback(i32 %value) {
  ret void
}

define void @constants() {
  store i64 0, ptr getelementptr inbounds ([8 x i64], ptr @array, i64 0, i64 3), align 8
  store i64 0, ptr @other, align 8
  store i32 0, ptr inttoptr (i64 1048576 to ptr), align 4
  store i32 0, ptr null, align 4
  %self = call ptr @llvm.threadlocal.address.p0(ptr @mine)
  store i32 1, ptr %self, align 4
  ret void
}

define ptr @moved(ptr %base, i64 %index, i1 %which) {
entry:
  %field = getelementptr inbounds %node, ptr %base, i64 1, i32 2, i64 3
  store i16 1, ptr %field, align 2
  %element = getelementptr inbounds i64, ptr %base, i64 %index
  store i64 1, ptr %element, align 8
  %same = getelementptr %node, ptr %base, i64 0, i32 0
  store i32 1, ptr %same, align 4
  br i1 %which, label %loop, label %end
loop:
  %each = phi ptr [ %base, %entry ], [ %next, %loop ]
  %link = getelementptr inbounds %node, ptr %each, i64 0, i32 1
  %next = load ptr, ptr %link, align 8
  %last = icmp eq ptr %next, null
  br i1 %last, label %end, label %loop
end:
  %found = phi ptr [ %base, %entry ], [ %each, %loop ]
  %one = select i1 %which, ptr %found, ptr @array
  ret ptr %one
}

define void @integers(ptr %p, i32 %high, i32 %low, i64 %wide, i1 %which) {
  %bits = ptrtoint ptr %p to i64
  %tagged = or i64 %bits, 1
  %a = inttoptr i64 %tagged to ptr
  store i8 0, ptr %a, align 1
  %next = add i64 %bits, 8
  %b = inttoptr i64 %next to ptr
  store i8 0, ptr %b, align 1
  %c = inttoptr i64 %wide to ptr
  store i8 0, ptr %c, align 1
  %h = zext i32 %high to i64
  %l = zext i32 %low to i64
  %hs = shl i64 %h, 32
  %glued = or i64 %hs, %l
  %d = inttoptr i64 %glued to ptr
  store i8 0, ptr %d, align 1
  %either = select i1 %which, i64 %glued, i64 %bits
  %e = inttoptr i64 %either to ptr
  store i8 0, ptr %e, align 1
  %indexed = add i64 %bits, %l
  %f = inttoptr i64 %indexed to ptr
  store i8 0, ptr %f, align 1
  ret void
}

define void @aggregates(ptr %p, ptr %q, <2 x ptr> %vector) {
  %a = insertvalue { ptr, i64 } undef, ptr %p, 0
  %b = extractvalue { ptr, i64 } %a, 0
  store i8 0, ptr %b, align 1
  %c = insertelement <2 x ptr> %vector, ptr %q, i32 0
  %d = extractelement <2 x ptr> %c, i32 1
  store i8 0, ptr %d, align 1
  %e = freeze ptr %p
  store i8 0, ptr %e, align 1
  %f = cmpxchg ptr %p, ptr %q, ptr null monotonic monotonic
  %g = extractvalue { ptr, i1 } %f, 0
  store i8 0, ptr %g, align 1
  %h = atomicrmw xchg ptr @outside, ptr %q acq_rel
  store i8 0, ptr %h, align 1
  %frame = alloca %node, align 8
  store ptr %frame, ptr @outside, align 8
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)

define void @unaligned(ptr %p) {
  %a = load i64, ptr %p, align 4
  %b = load <2 x i64>, ptr %p, align 16
  ret void
}
