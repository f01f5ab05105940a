//! One program under one peer, as `cargo xtask bench peers` runs it: `PROGRAM THREADS STRATEGY SECONDS RUNS`.
//!
//! Prints a line of JSON: executions that came to their end, others, whether all were seen, and the seconds; or the
//! message of whatever went wrong. Strategies are `dfs` (loom, shuttle), `random` and `pct` (shuttle); the first ends
//! after SECONDS, the others after RUNS. Without a peer the program runs once.

mod broken;
mod programs;
mod shim;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<u64>().expect("a number");
    let program = programs::named(&args[1]).or_else(|| broken::named(&args[1]));
    let program = program.expect("a program");
    let threads = number(2) as usize;
    let limit = Duration::from_secs(number(4));
    let began = Instant::now();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_default();
        let first = text.trim().lines().next().unwrap_or_default();
        print(began, false, Some(first));
        std::process::exit(1);
    }));
    let body = move || {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        program(threads);
        ENDED.fetch_add(1, Ordering::Relaxed);
    };
    let all = explore(&args[3], limit, number(5) as usize, body);
    print(began, all, None);
}

fn print(began: Instant, all: bool, error: Option<&str>) {
    let ended = ENDED.load(Ordering::Relaxed);
    let cut = BEGUN.load(Ordering::Relaxed) - ended;
    let seconds = began.elapsed().as_secs_f64();
    let error = error.map_or("null".to_owned(), |error| format!("{error:?}"));
    println!(
        r#"{{"executions":{ended},"cut":{cut},"complete":{all},"seconds":{seconds},"error":{error}}}"#
    );
}

/// Whether all executions were explored.
#[cfg(feature = "loom")]
fn explore(_: &str, limit: Duration, _: usize, body: impl Fn() + Send + Sync + 'static) -> bool {
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(limit);
    builder.checkpoint_interval = 100;
    let began = Instant::now();
    builder.check(body);
    began.elapsed() < limit
}

#[cfg(feature = "shuttle")]
fn explore(
    strategy: &str,
    limit: Duration,
    runs: usize,
    body: impl Fn() + Send + Sync + 'static,
) -> bool {
    use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
    use shuttle::{Config, MaxSteps, Runner};
    let mut config = Config::new();
    let seed = 1;
    match strategy {
        "random" => drop(Runner::new(RandomScheduler::new_from_seed(seed, runs), config).run(body)),
        "pct" => drop(Runner::new(PctScheduler::new_from_seed(seed, 3, runs), config).run(body)),
        _ => {
            config.max_time = Some(limit);
            // A search that starts a waiting thread again and again would not come back from it.
            config.max_steps = MaxSteps::ContinueAfter(1000);
            let began = Instant::now();
            Runner::new(DfsScheduler::new(None, false), config).run(body);
            return began.elapsed() < limit
                && BEGUN.load(Ordering::Relaxed) == ENDED.load(Ordering::Relaxed);
        }
    }
    false
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
fn explore(_: &str, _: Duration, _: usize, body: impl Fn() + Send + Sync + 'static) -> bool {
    body();
    false
}
