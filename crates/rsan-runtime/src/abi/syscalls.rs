//! System calls that the program makes without the C library, and tells of (`sanitizer/linux_syscall_hooks.h`): before and
//! after each.
//!
//! Buffers of the calls that move data are accesses of the program, and a fork is one. The other functions are there, and do nothing.

use crate::entry::entries;
use crate::intercept::processes;
use crate::race::{self, Kind};
use std::ffi::{c_int, c_long};

extern "C" fn nothing() {}

/// What the system is about to write.
extern "C" fn fills(_: c_long, buffer: usize, bytes: usize) {
    race::range(buffer, bytes, Kind::WRITE);
}

/// What it is about to read.
extern "C" fn takes(_: c_long, buffer: usize, bytes: usize) {
    race::range(buffer, bytes, Kind::READ);
}

extern "C" fn fills_pair(descriptors: usize) {
    race::range(descriptors, 2 * size_of::<c_int>(), Kind::WRITE);
}

extern "C" fn before_fork() {
    processes::before_fork();
}

extern "C" fn after_fork(result: c_long) {
    match result {
        0 => processes::in_child(),
        _ => processes::in_parent(),
    }
}

entries! {
    __sanitizer_syscall_pre_impl_read => fills;
    __sanitizer_syscall_pre_impl_pread64 => fills;
    __sanitizer_syscall_pre_impl_recv => fills;
    __sanitizer_syscall_pre_impl_recvfrom => fills;
    __sanitizer_syscall_pre_impl_write => takes;
    __sanitizer_syscall_pre_impl_pwrite64 => takes;
    __sanitizer_syscall_pre_impl_send => takes;
    __sanitizer_syscall_pre_impl_sendto => takes;
    __sanitizer_syscall_pre_impl_pipe => fills_pair;
    __sanitizer_syscall_pre_impl_pipe2 => fills_pair;
    __sanitizer_syscall_pre_impl_fork => before_fork;
    __sanitizer_syscall_pre_impl_vfork => before_fork;
    __sanitizer_syscall_post_impl_fork => after_fork;
    __sanitizer_syscall_post_impl_vfork => after_fork;
}

/// Functions with a common beginning of their names that do nothing.
macro_rules! without_effect {
    ($before:literal: $($name:ident)+) => {
        $(const _: () = {
            #[cfg_attr(not(test), unsafe(export_name = concat!($before, stringify!($name))))]
            extern "C" fn without_effect() {
                nothing();
            }
            #[used]
            static KEPT: extern "C" fn() = without_effect;
        };)+
    };
}

/// The calls of the table, with the one function and the other.
macro_rules! before_and_after {
    ($($name:ident)+) => {
        without_effect!("__sanitizer_syscall_pre_impl_": $($name)+);
        without_effect!("__sanitizer_syscall_post_impl_": $($name)+);
    };
}

without_effect! { "__sanitizer_syscall_post_impl_":
    pipe pipe2 pread64 pwrite64 read recv recvfrom send sendto write
}

before_and_after! {
    accept accept4 access acct add_key adjtimex alarm bdflush bind brk capget capset chdir chmod chown chown16
    chroot clock_adjtime clock_getres clock_gettime clock_nanosleep clock_settime close connect creat
    delete_module dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
    eventfd2 exit exit_group faccessat fanotify_init fanotify_mark fchdir fchmod fchmodat fchown fchown16
    fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64
    fstatfs fstatfs64 fsync ftruncate futimesat get_mempolicy get_robust_list getcpu getcwd getdents getdents64
    getegid getegid16 geteuid geteuid16 getgid getgid16 getgroups getgroups16 gethostname getitimer getpeername
    getpgid getpgrp getpid getppid getpriority getresgid getresgid16 getresuid getresuid16 getrlimit getrusage
    getsid getsockname getsockopt gettid gettimeofday getuid getuid16 getxattr init_module inotify_add_watch
    inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_setup io_submit ioctl
    ioperm ioprio_get ioprio_set ipc kexec_load keyctl kill lchown lchown16 lgetxattr link linkat listen
    listxattr llistxattr llseek lookup_dcookie lremovexattr lseek lsetxattr lstat lstat64 madvise mbind
    migrate_pages mincore mkdir mkdirat mknod mknodat mlock mlockall mmap_pgoff mount move_pages mprotect
    mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap msgctl msgget msgrcv msgsnd
    msync munlock munlockall munmap name_to_handle_at nanosleep newfstat newfstatat newlstat newstat newuname
    ni_syscall nice old_getrlimit old_mmap old_readdir old_select oldumount olduname open open_by_handle_at
    openat pause pciconfig_iobase pciconfig_read pciconfig_write perf_event_open personality pivot_root poll
    ppoll preadv prlimit64 process_vm_readv process_vm_writev pselect6 ptrace pwritev quotactl readlink
    readlinkat readv reboot recvmmsg recvmsg remap_file_pages removexattr rename renameat request_key
    restart_syscall rmdir rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigtimedwait
    rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam
    sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler sched_yield
    select semctl semget semop semtimedop sendfile sendfile64 sendmmsg sendmsg set_mempolicy set_robust_list
    set_tid_address setdomainname setfsgid setfsgid16 setfsuid setfsuid16 setgid setgid16 setgroups setgroups16
    sethostname setitimer setns setpgid setpriority setregid setregid16 setresgid setresgid16 setresuid
    setresuid16 setreuid setreuid16 setrlimit setsid setsockopt settimeofday setuid setuid16 setxattr sgetmask
    shmat shmctl shmdt shmget shutdown sigaction sigaltstack signal signalfd signalfd4 sigpending sigprocmask
    socket socketcall socketpair splice spu_create spu_run ssetmask stat stat64 statfs statfs64 stime swapoff
    swapon symlink symlinkat sync syncfs sysctl sysfs sysinfo syslog tee tgkill time timer_create timer_delete
    timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill
    truncate umask umount uname unlink unlinkat unshare uselib ustat utime utimensat utimes vhangup vmsplice
    wait4 waitid waitpid writev
}
