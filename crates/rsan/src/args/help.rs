//! What the help of each command says below its options: names of values, exit statuses, examples.

pub(super) const AFTER_HELP: &str = "\
Exit status: 0 robust, or no finding; 1 not robust, or another finding; 2 wrong usage or bad input;
3 undecided (a limit was reached, or something is not modelled); 4 the program under test failed, by an exit status
or a signal, without a finding. Of several inputs all are answered, and the most severe status counts, in the order 2, 1, 4, 3, 0.

Examples:
  rsan check dekker.c                      compile it, run it, report
  rsan verify peterson.litmus              is it robust against C++20?
  rsan litmus --model rc11 iriw.litmus     which final states are allowed?";

pub(super) const VERIFY_HELP: &str = "\
Models:
  c20            C++20, seq_cst accesses included
  rc20           RC20 (POPL 2021): no seq_cst accesses, stronger fences
  ra             release/acquire (PLDI 2019): as rc20, every access at least release or acquire
  tso            x86: stores are delayed; orders count as what compilers make of them. Automata are of this model only

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
c20, rc20, ra: fences are inserted and orders made stronger, at the least cost on the target; for each change it is said what
goes wrong without it. With --cost, costs are multiplied by what a JSON file says of their line: {\"thread\": {\"12\": 5}}.

tso: of all sets of fences that make the program robust, one with the least cost is found; for each fence a run is shown that
only it forbids. A fence costs 1, or what --cost says: a JSON file with threads, control states (or lines) and costs,
{\"thread\": {\"state\": 5}}.

Exit status: 0 robust, or made robust by what is printed; 1 nothing helps, or the program fails by itself; 2 wrong
usage or bad input; 3 undecided.

Examples:
  rsan fence --diff mp.litmus | patch mp.litmus
  rsan fence --model rc20 --target riscv -o fixed.tpl deque.tpl
  rsan fence --model tso --format json dekker.litmus
  rsan fence peterson.txt";

pub(super) const LITMUS_HELP: &str = "\
Every execution that satisfies the model's axioms is enumerated; loops are cut after --unroll rounds, which is said.

Exit status: 0 the condition holds as written; 1 it does not; 2 wrong usage or bad input; 3 undecided.

Examples:
  rsan litmus sb.litmus
  rsan litmus --model tso --format json sb.litmus";

pub(super) const EMIT_C_HELP: &str = "\
The translation is C11 with POSIX threads, a function for each thread, and makes the accesses of the source. Waits are
spin loops. Endless loops are left after ROUNDS rounds (3), and a program that has not ended after DEADLINE seconds (10) ends
with status 3; both are macros. With --scheduled, RSAN_SCHEDULE=\"0 1 1 0\" in the environment of the compiled program
has the threads make their steps in this order. With --annotated, waits are those of rsan.h: one access to the sanitizer.

Exit status: 0; 2 wrong usage or bad input.

Examples:
  rsan emit-c -o sb.c sb.litmus && rsan check sb.c";

pub(super) const CHECK_USAGE: &str =
    "rsan check [OPTIONS] [FLAGS OF THE COMPILER] <FILE>... [-- ARGUMENTS OF THE PROGRAM]";

pub(super) const CHECK_HELP: &str = "\
Each C or C++ file is a program of its own, or with --together a part of one: it is compiled with the sanitizer and run --runs
times, each time for at most --time-limit (60s). It is compiled so that every access of the source is there; -O chooses a level
of optimisation instead. Flags such as -std=c++20, -Iinclude, -DNAME, -lm, -fopenmp, -Wall or -march=native go to the compiler;
what stands after -- goes to the program. Rust programs can't be checked yet. Other files are verified: --property, --parametric,
--deadlock, --memory-limit and --dot are for them only.

With --sched or --exhaustive the schedule is ours, and --time-limit is for all runs together; `rsan run --help` says more. Runs
without a finding prove nothing; only --exhaustive, and what is verified, can be `robust`.

Exit status: 0 robust, or no finding; 1 a finding; 2 wrong usage or bad input; 3 undecided; 4 the program failed,
without a finding.

Examples:
  rsan check dekker.c
  RSAN_CC=clang rsan check --runs 20 --halt-on-error queue.c
  rsan check --sched pct queue.c
  rsan check --exhaustive --time-limit 5m queue.c
  rsan check -O2 --runs 100 queue.c
  rsan check -std=c++20 -Iinclude --together queue.cc test.cc -- --fast
  rsan check *.litmus *.tpl";

pub(super) const RUN_HELP: &str = "\
A run is the program with all processes that it starts. The same finding of several runs is reported once. In several runs
the program's standard input is empty. With --format json the program's standard output goes to standard error.

With --sched one thread runs at a time, and a strategy says which; every seed gives a schedule, always the same:
  random         every thread that can go on is as likely as the others
  pct            random priorities that change at depth-1 steps (depth=3): finds what needs that many orders of steps
  pos            random priorities of operations: many executions evenly
Runs that show something new leave their schedule in --out; --replay makes such a run again. A run that crashes, hangs, exits
with a status, or makes another process is one failed run, and its schedule is kept, too. With --exhaustive every execution is
explored; the program is robust if there is no finding and nothing was cut off, failed, left out or suppressed. Compile with
`rsan cc --rsan-as-written` for that: what the compiler removes is not checked. Other runs without a finding prove nothing.

Exit status: 0 robust, or no finding; 1 a finding; 2 wrong usage; 3 undecided (a run reached a limit, was interrupted, or left the
schedule that it should follow, or no process was built with rsan); 4 the program failed, without a finding.

Examples:
  CC=\"rsan cc\" CXX=\"rsan c++\" make
  rsan run --runs 20 -- ./my_test --fast
  rsan run --sched pct --runs 1000 -- ./my_test
  rsan run --replay rsan-out/violation-1.sched --minimize -- ./my_test
  rsan run --timeout 5m --suppressions known.txt -- make test";

pub(super) const REPORT_HELP: &str = "\
Answers about the same subject are merged: a finding of several of them is one, and runs add up. With --baseline only findings that
an earlier answer does not have count. Findings are the same if their kind, file, function and source line are; line numbers
do not matter.

Exit status: that of the command that gave the answers, the most severe one; 2 wrong usage or bad input.

Examples:
  rsan check --format json -o found.json queue.c; rsan report -v found.json
  rsan report --format sarif -o rsan.sarif found.json
  rsan report --baseline known.json --format junit *.json
  rsan report --schema";

pub(super) const COMPILER_HELP: &str = "\
The compiler is named by --rsan-compiler=NAME (gcc, clang-16 or a path), by RSAN_CC and RSAN_CXX, or is what is
installed. With --rsan-as-written every access of the source is there, whatever the level of optimisation. The exit
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
