; mp.c, as a compiler would write it.
source_filename = "mp.c"

@data = global i32 0, align 4
@flag = global i32 0, align 4

define internal ptr @producer(ptr %unused) !dbg !10 {
  store atomic i32 42, ptr @data monotonic, align 4, !dbg !20
  store atomic i32 1, ptr @flag monotonic, align 4, !dbg !21
  ret ptr %unused, !dbg !22
}

define internal ptr @consumer(ptr %unused) !dbg !11 {
  br label %wait, !dbg !23
wait:
  %seen = load atomic i32, ptr @flag monotonic, align 4, !dbg !23
  %unset = icmp eq i32 %seen, 0, !dbg !23
  br i1 %unset, label %wait, label %done, !dbg !23
done:
  %value = load atomic i32, ptr @data monotonic, align 4, !dbg !24
  %right = icmp eq i32 %value, 42, !dbg !24
  %result = select i1 %right, ptr %unused, ptr null, !dbg !24
  ret ptr %result, !dbg !25
}

define i32 @main() !dbg !12 {
  %threads = alloca [2 x i64], align 8
  %first = call i32 @pthread_create(ptr %threads, ptr null, ptr @producer, ptr null), !dbg !26
  %second = getelementptr inbounds i64, ptr %threads, i64 1
  %other = call i32 @pthread_create(ptr %second, ptr null, ptr @consumer, ptr null), !dbg !27
  %a = load i64, ptr %threads, align 8
  %joined = call i32 @pthread_join(i64 %a, ptr null), !dbg !28
  %b = load i64, ptr %second, align 8
  %again = call i32 @pthread_join(i64 %b, ptr null), !dbg !28
  ret i32 0, !dbg !29
}

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "by hand", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "mp.c", directory: ".")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{}
!10 = distinct !DISubprogram(name: "producer", scope: !1, file: !1, line: 8, type: !3, unit: !0, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition)
!11 = distinct !DISubprogram(name: "consumer", scope: !1, file: !1, line: 14, type: !3, unit: !0, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition)
!12 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 21, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!20 = !DILocation(line: 9, column: 5, scope: !10)
!21 = !DILocation(line: 10, column: 5, scope: !10)
!22 = !DILocation(line: 11, column: 5, scope: !10)
!23 = !DILocation(line: 15, column: 12, scope: !11)
!24 = !DILocation(line: 17, column: 17, scope: !11)
!25 = !DILocation(line: 18, column: 5, scope: !11)
!26 = !DILocation(line: 23, column: 5, scope: !12)
!27 = !DILocation(line: 24, column: 5, scope: !12)
!28 = !DILocation(line: 26, column: 9, scope: !12)
!29 = !DILocation(line: 27, column: 5, scope: !12)
