; Store buffering, without lines and without a function that starts threads.
@x = global i32 0, align 4
@y = global i32 0, align 4

define i32 @left() {
  store atomic i32 1, ptr @x monotonic, align 4
  %seen = load atomic i32, ptr @y monotonic, align 4
  ret i32 %seen
}

define i32 @right() {
  store atomic i32 1, ptr @y monotonic, align 4
  %seen = load atomic i32, ptr @x monotonic, align 4
  ret i32 %seen
}
