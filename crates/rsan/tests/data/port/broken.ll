define i32 @f() {
  %x = load atomic i32, ptr @nowhere monotonic, align 4
