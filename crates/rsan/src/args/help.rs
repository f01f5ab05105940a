//! What the help of each command says below its options: names of values, exit statuses, examples.

pub(super) const AFTER_HELP: &str = "\
Exit status: 0 robust, or no finding; 1 not robust, or another finding (see --fail-on); 2 wrong usage or bad input;
3 undecided (a limit was reached, or something is not modelled); 4 the program under test failed, by an exit status
or a signal, without a finding. All inputs are answered, and the most severe status counts, in the order 2, 1, 4, 3, 0.

Examples:
  rsan check dekker.c                      compile it, run it, report
  rsan explore queue.c                     run it with weak memory: what goes wrong?
  rsan verify peterson.litmus              is it robust against C++20?
  rsan port --to armv8 queue.c             it works on x86: what breaks on Arm?
  rsan litmus --model rc11 iriw.litmus     which final states are allowed?";

pub(super) const VERIFY_HELP: &str = "\
Models:
  c20            C++20, seq_cst accesses included
  rc20           RC20 (POPL 2021): no seq_cst accesses, stronger fences
  ra             release/acquire (PLDI 2019): as rc20, every access at least release or acquire
  tso            x86-TSO: stores may be delayed; orders mean what compilers make of them. The only model for automata

Properties:
  robust         every execution that the model allows is sequentially consistent
  observational  the same, up to reads whose value is never used
  safe           only what is always checked: no failed assertion, no data race on non-atomics
  trf            no triangular race (tso): no load with an unfenced store before it races with a store

Exit status: 0 robust; 1 violation; 2 wrong usage or bad input; 3 undecided.

Examples:
  rsan verify peterson.litmus
  rsan verify --model ra --property observational seqlock.tpl
  rsan verify --parametric spinlock.txt
  rsan verify --dot cycle.dot sb.litmus && dot -Tsvg -O cycle.dot
  rsan verify --format json --time-limit 60s *.litmus";

pub(super) const FENCE_HELP: &str = "\
c20, rc20, ra: inserts fences and strengthens orders at the least cost on the target, and shows for each change what goes
wrong without it. With --cost, a JSON file multiplies the costs of lines: {\"thread\": {\"12\": 5}}.

tso: finds a cheapest set of fences that makes the program robust, and shows for each fence a run that only it forbids. A
fence costs 1, or what --cost says: a JSON file with threads, control states (or lines) and costs,
{\"thread\": {\"state\": 5}}.

Exit status: 0 robust, or made robust by what is printed; 1 no fences help, or the program fails under SC, too; 2 wrong
usage or bad input; 3 undecided.

Examples:
  rsan fence --diff mp.litmus | patch mp.litmus
  rsan fence --model rc20 --target riscv -o fixed.tpl deque.tpl
  rsan fence --model tso --format json dekker.litmus
  rsan fence peterson.txt";

pub(super) const LITMUS_HELP: &str = "\
Enumerates every execution that satisfies the model's axioms. Loops are cut after --unroll iterations; the answer says so.

Assembly tests (AArch64, ARM, X86, X86_64, RISCV, PPC, in herd's syntax) are answered by the model of their machine. --arch compiles
C tests by the table that compilers use, and answers for the machine; its variants: armv8+rcpc (ldapr), armv8+lse (atomic
instructions), both, x86+mfence (seq_cst stores by mov and mfence), power+trailing (fences behind accesses), power+lwsync
(acquire by lwsync).

Exit status: 0 the condition holds as written; 1 it does not; 2 wrong usage or bad input; 3 undecided.

Examples:
  rsan litmus sb.litmus
  rsan litmus --model tso --format json sb.litmus
  rsan litmus --arch armv8+rcpc mp.litmus
  rsan litmus MP+dmb.sy+addr.litmus";

pub(super) const EMIT_C_HELP: &str = "\
The translation is C11 with POSIX threads, one function per thread, with the accesses of the source. Waits become spin
loops. Endless loops end after ROUNDS iterations (3), and a program that has not ended after DEADLINE seconds (10) exits with
status 3; both are macros. With --scheduled, RSAN_SCHEDULE=\"0 1 1 0\" in the environment of the compiled program sets the
order of the threads' steps. With --annotated, waits are those of rsan.h, which the sanitizer treats as one access.

Exit status: 0; 2 wrong usage or bad input.

Examples:
  rsan emit-c -o sb.c sb.litmus && rsan check sb.c";

pub(super) const EMIT_RUST_HELP: &str = "\
The translation is one file of Rust without dependencies, one function per thread, with the accesses of the source. Waits
become spin loops. Endless loops end after ROUNDS iterations (3), and a program that has not ended after DEADLINE seconds (10)
exits with status 3; both are constants. With --scheduled, RSAN_SCHEDULE=\"0 1 1 0\" in the environment of the compiled
program sets the order of the threads' steps (on x86-64). With --annotated, the sanitizer treats a wait as one access.

Exit status: 0; 2 wrong usage or bad input.

Examples:
  rsan emit-rust -o sb.rs sb.litmus && rsan check sb.rs";

pub(super) const CHECK_USAGE: &str =
    "rsan check [OPTIONS] [FLAGS OF THE COMPILER] <FILE>... [-- ARGUMENTS OF THE PROGRAM]";

pub(super) const CHECK_HELP: &str = "\
Each C, C++ or Rust file is a program of its own, or with --together a part of one. It is compiled with the sanitizer and run: 2 times
freely, each time for at most --time-limit (60s), then up to 100 times under controlled scheduling, at least 20 of them unless they take
more than 6 s. With --runs all runs are free. By default the compiler keeps every access of the source; -O chooses an
optimization level instead. Flags such as -std=c++20, -Iinclude, -DNAME, -lm, -fopenmp, -Wall or -march=native go to the compiler;
what stands after -- goes to the program. A Rust file is compiled by rustc (--cfg, --edition, -C and --extern are its flags), with its tests if it has no
main function; `cargo rsan` is for packages. Other files are verified: --property, --parametric, --deadlock, --memory-limit and --dot
are for them only.

With --sched or --exhaustive, rsan controls the scheduling of all runs, and --time-limit is for all of them together; see `rsan run --help`.
Runs without a finding prove nothing; only --exhaustive and verification can answer `robust`.

Exit status: 0 robust, or no finding; 1 a finding, notes aside (--fail-on); 2 wrong usage or bad input; 3 undecided;
4 the program failed, without a finding.

Examples:
  rsan check dekker.c
  RSAN_CC=clang rsan check --runs 20 --halt-on-error queue.c
  rsan check --sched pct queue.c
  rsan check my_lock.rs
  rsan check --exhaustive --time-limit 5m queue.c
  rsan check -O2 --runs 100 queue.c
  rsan check -std=c++20 -Iinclude --together queue.cc test.cc -- --fast
  rsan check *.litmus *.tpl";

pub(super) const RUN_HELP: &str = "\
A run is the program with all processes that it starts. A finding of several runs is reported once. With more than one run
the program's standard input is empty. With --format json the program's standard output goes to standard error.

With --sched, rsan controls the scheduling: one thread runs at a time, and a strategy chooses which. A seed always gives the
same schedule:
  random         a random walk: every enabled thread is equally likely
  pct            random thread priorities with depth-1 change points (depth=3): finds bugs of that depth
  pos            random priorities of operations: samples executions more evenly
Runs that show something new save their schedule in --out; --replay repeats such a run. A run that crashes, hangs, exits with
a nonzero status or starts another process counts as failed, and its schedule is saved, too. --exhaustive explores every
execution: the program is robust if there is no finding and no run was cut off, failed, left out or suppressed. Compile with
`rsan cc --rsan-as-written` for that: accesses that the compiler removes are not checked. Other runs without a finding prove
nothing.

Exit status: 0 robust, or no finding; 1 a finding, notes aside (--fail-on); 2 wrong usage; 3 undecided (a run reached a limit, was interrupted, or left the
schedule that it should follow, or no process was built with rsan); 4 the program failed, without a finding.

Examples:
  CC=\"rsan cc\" CXX=\"rsan c++\" make
  rsan run --runs 20 -- ./my_test --fast
  rsan run --sched pct --runs 1000 -- ./my_test
  rsan run --replay rsan-out/violation-1.sched --minimize -- ./my_test
  rsan run --timeout 5m --suppressions known.txt -- make test";

pub(super) const EXPLORE_USAGE: &str =
    "rsan explore [OPTIONS] [FLAGS OF THE COMPILER] <FILE>... [-- ARGUMENTS OF THE PROGRAM]
       rsan explore [OPTIONS] -- <PROGRAM> [ARGUMENTS]";

pub(super) const EXPLORE_HELP: &str = "\
Executes weak behaviours: rsan controls the scheduling, and a load may return any value that C++20 lets it return, not only the last
one. Data races, failed assertions, crashes, nonzero exit statuses, deadlocks and runs that do not end are findings, each with the
stale reads of a run that shows it, and with whether that run is sequentially consistent. Not executed are load buffering and accesses of one
word with different sizes; see docs/explore.md.

A file is compiled as `rsan check` does it. A program must have been built with `rsan cc` or `rsan c++`.

Strategies:
  guided         sequentially consistent up to a load that need not be, at places that no run has taken yet; weak from there on
  pctwm          random priorities, and depth reads from other threads (depth=3), from their last writes (history=2)
  random         threads and writes at random
The schedule of the first run of each finding is saved in --out with as few stale reads as possible; --replay repeats the run.
With --exhaustive every weak execution is made once, within 5 minutes unless --time-limit, --max-executions, --checkpoint or --shard says
otherwise. Without it, runs without a finding prove nothing.

Exit status: 0 no finding; 1 a finding; 2 wrong usage or bad input; 3 undecided (a run reached a limit that sequentially consistent runs
reach, too, was interrupted, or left the schedule that it should follow); 4 the program fails without weak memory, too, at the first try, and
there is no finding.

Examples:
  rsan explore queue.c
  rsan explore --runs 2000 -- ./queue_test
  rsan explore --strategy pctwm:depth=2 --seed 7 --window 100000 -- ./server_test
  rsan explore --exhaustive small_test.c
  rsan explore --replay rsan-out/weak-1.sched --minimize -- ./queue_test";

pub(super) const PORT_USAGE: &str =
    "rsan port [OPTIONS] [FLAGS OF THE COMPILER] <FILE>... [-- FLAGS OF THE COMPILER]";

pub(super) const PORT_HELP: &str = "\
A program is robust from one machine to a weaker one if the weaker one shows no execution that the stronger one does not have. Sources
are compiled by clang or rustc to LLVM's IR; all of them, and all .bc and .ll files, are one program. Its functions that threads run are
analysed for any number of threads: those that it starts threads with, or those that --thread names. `robust` is a proof; a warning names
two accesses that may be swapped, and says what it rests on. Compile IR with -g, so that warnings have lines, and with -O1 or higher.

A .litmus or .tpl file is answered exactly, by all its executions on both machines; a violation is one.

Machines: sc (none has it, but programs may be written for it), x86, armv8, riscv, armv7, power.

RSAN_CC and RSAN_CXX name a clang; RSAN_LLVM names the library of LLVM that reads the IR. Without them, what is installed is taken.

Exit status: 0 robust, or with --fix made robust; 1 not robust; 2 wrong usage or bad input; 3 undecided (a limit was reached, something is not
understood, or there is no LLVM).

Examples:
  rsan port --from x86 --to armv8 queue.c
  rsan port --fix --diff queue.c | patch -p0
  rsan port --from sc --to riscv --thread worker build/*.bc
  rsan port --fix --emit-llvm fixed.ll queue.ll
  rsan port --to power sb.litmus";

pub(super) const CARGO_HELP: &str = "\
Works with any stable toolchain from 1.88 on, as rustup installs it: no nightly, no rust-src, no flag, no annotation. What is built is
in target/rsan, beside what cargo builds. See docs/rust.md.

Exit status: 0 no finding; 1 a finding, notes aside (--fail-on); 2 wrong usage, or a package that cannot be built; 3 undecided; 4 a test
failed, and there is no finding.

Examples:
  cargo rsan test
  cargo rsan test --release -p queue --test stress
  cargo rsan test --sched pct --runs 500 -- queue::
  cargo rsan test --exhaustive small
  cargo rsan run --example spsc -- 1000";

pub(super) const CARGO_TEST_HELP: &str = "\
The long options above are taken wherever they stand before `--`. All others, and names of tests, are those of `cargo test`: -p, --workspace,
--features, --release, --test, --lib, --manifest-path and so on. After `--` stand options of the tests: --skip, --exact, --ignored,
--include-ignored, --nocapture, --test-threads.

Each #[test] is run in a process of its own, several at a time: 2 free runs, then up to 100 under controlled scheduling, at least 20
of them unless they take more than 6 s. With --runs all runs are free; with --sched, --exhaustive and --replay, the test is what is run under controlled scheduling. A test that
takes longer than --timeout (60s) has failed, and the others go on. A target without libtest's main function is run as one
test. Doc tests are not run.

Exit status: 0 no finding; 1 a finding, notes aside (--fail-on); 2 wrong usage, or a package that cannot be built; 3 undecided; 4 a test
failed, and there is no finding.

Examples:
  cargo rsan test
  cargo rsan test --release -p queue --test stress
  cargo rsan test --sched pct --runs 500 -- queue::
  cargo rsan test --exhaustive small
  cargo rsan test --replay rsan-out/queue.spsc/violation-1.sched --test queue -- --exact spsc";

pub(super) const CARGO_NEXTEST_HELP: &str = "\
Builds with the sanitizer and lets cargo-nextest, which has to be installed, run the tests: its filters, profiles, retries and
limits hold. Each test gets the runs that it gets with `cargo rsan test`. A test with a finding fails.

Exit status: as `cargo rsan test`.

Examples:
  cargo rsan nextest run
  cargo rsan nextest run --release -E 'test(queue)'";

pub(super) const CARGO_RUN_HELP: &str = "\
The long options above are taken wherever they stand before `--`. All others are those of `cargo run`: --bin, --example, -p, --release and so on.
The program is run once, or as `rsan run` runs programs with the same options.

Exit status: as `rsan run`; 2 a package that cannot be built, too.

Examples:
  cargo rsan run --example spsc -- 1000
  cargo rsan run --release --runs 20
  cargo rsan run --sched pct --bin server";

pub(super) const CARGO_BUILD_HELP: &str = "\
Takes the options of `cargo build`. The programs are in target/rsan; `rsan run` runs them.

Exit status: 0; 2 wrong usage, or a package that cannot be built.

Examples:
  cargo rsan build --release && rsan run target/rsan/x86_64-unknown-linux-gnu/release/server";

pub(super) const CARGO_CLEAN_HELP: &str = "\
Removes target/rsan; what cargo itself has built stays. The options of `cargo clean` (-p, --release) are taken.

Exit status: 0; 2 wrong usage.

Examples:
  cargo rsan clean";

pub(super) const CARGO_SETUP_HELP: &str = "\
Otherwise that is done when it is needed, once for each toolchain.

Exit status: 0; 2 the toolchain does not have what is needed.

Examples:
  cargo rsan setup
  cargo +beta rsan setup";

pub(super) const MERGE_HELP: &str = "\
Findings of several shards are one, runs add up, and different executions are counted once. The answer is that of one run of all of it. `robust` needs
all shards; what is missing or unfinished is named, and makes the answer undecided if there is no finding. Results of different programs, options
or versions of rsan, and the same shard twice, are errors.

Exit status: that of the command that was split; 2 wrong usage, or results that do not belong together; 3 undecided (a shard is missing or unfinished).

Examples:
  rsan run --sched pct --shard 1/2 --out found -- ./my_test
  rsan run --sched pct --shard 2/2 --out found -- ./my_test
  rsan merge found
  rsan merge --format sarif -o rsan.sarif node1/found node2/found";

pub(super) const CAMPAIGN_USAGE: &str =
    "rsan campaign <--slurm|--kubernetes|--github|--gitlab> [OPTIONS] -- <COMMAND>";

pub(super) const CAMPAIGN_HELP: &str = "\
With --slurm a job array is submitted, followed, and its results are merged. What shards left when their --time-limit was over is split again by the next
array; shards without a result, of nodes that died, are made again. Ctrl-C cancels the array, and what is known is told. The same command again goes on
where it ended. For the other systems a file is written, in the folder `campaign` of --out; what is left after its shards have run is in the next one.

Exit status: with --slurm that of `rsan merge`; otherwise 0; 2 wrong usage, or Slurm does not take the array.

Examples:
  rsan campaign --slurm --shards 64 --out /shared/found -- run --sched pct --runs 1000000 -- ./my_test
  rsan campaign --slurm --time-limit 30m --with=--partition=long -- check --exhaustive my_test.c
  rsan campaign --kubernetes --image my_image --claim results --out /results -- run --sched pct -- /my_test
  rsan campaign --github --setup 'make my_test' --dry-run -- run --sched pct -- ./my_test";

pub(super) const REPORT_HELP: &str = "\
Answers about the same subject are merged: a finding of several of them is one, and runs add up. With --baseline only findings that
an earlier answer does not have count. Findings are the same if their kind, file, function and source line are; line numbers
do not matter.

Exit status: that of the command that gave the answers, with this --fail-on, the most severe one; 2 wrong usage or bad input.

Examples:
  rsan check --format json -o found.json queue.c; rsan report -v found.json
  rsan report --format sarif -o rsan.sarif found.json
  rsan report --baseline known.json --format junit *.json
  rsan report --schema";

pub(super) const COMPILER_HELP: &str = "\
The compiler is named by --rsan-compiler=NAME (gcc, clang-16 or a path), by RSAN_CC and RSAN_CXX, or is what is
installed. With --rsan-as-written the compiler keeps every access of the source at any optimization level. The exit
status is the compiler's, or 2 for what can't be built with rsan.

Examples:
  rsan cc -O2 -pthread -o my_test my_test.c
  rsan c++ --rsan-compiler=clang -std=c++20 -o my_test my_test.cc
  CC=\"rsan cc\" CXX=\"rsan c++\" ./configure && make
  CC=\"rsan cc\" CXX=\"rsan c++\" cmake -B build && cmake --build build
  CC=\"rsan cc\" CXX=\"rsan c++\" meson setup build && meson compile -C build";

pub(super) const MAN_HELP: &str = "\
The page is printed as roff. --install writes rsan.1, rsan-check.1 and so on into share/man beside the bin folder that rsan is in,
if that is below your home folder, as `cargo install` has it; else into man of $XDG_DATA_HOME (~/.local/share).

Exit status: 0; 2 wrong usage, or a page could not be written.

Examples:
  rsan man --install && man rsan-check
  rsan man check | man -l -";

pub(super) const COMPLETIONS_HELP: &str = "\
--install writes
  bash  $XDG_DATA_HOME/bash-completion/completions/rsan
  zsh   $XDG_DATA_HOME/zsh/site-functions/_rsan; this folder has to be in fpath
  fish  $XDG_CONFIG_HOME/fish/completions/rsan.fish
where $XDG_DATA_HOME is ~/.local/share and $XDG_CONFIG_HOME is ~/.config, unless they are set. It holds for shells that start
later.

Exit status: 0; 2 wrong usage, or the script could not be written.

Examples:
  rsan completions bash --install
  source <(rsan completions bash)";
