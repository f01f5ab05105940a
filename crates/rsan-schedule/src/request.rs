//! What the command asks the runtime for: a run under controlled scheduling, and the answer.
//!
//! Both are a line of text between a client and the process that makes the runs; a request is also the value of the setting
//! `sched`. What the run did is in shared memory then ([`crate::shared`]).
//!
//! ```text
//! strategy=SPEC seed=N steps=N | replay=FILE | follow=FILE | prefix=THREAD,... | plan=WORD,...
//! explore=SPEC seed=N steps=N [known=PLACE,...] [target=LOAD[,MISSED]] [only=1] [first=THREAD,...]
//!     [limit=STEPS] [turn=STEPS] [timeout=MILLISECONDS] [steady=1] [kernel_threads=1] [weak=1] [window=STEPS] [explain=1]
//! end status=N timeout=0|1 [kept=BYTES]    status: as `wait` has it
//! error TEXT                               there is no such run
//! ```
//!
//! Several requests can be made in one line, with [`SEPARATOR`] between them. The answer is that to the last run that was made, and comes
//! behind any run of which there is more to say than its trace: that is the last one then. What was made before it is kept in shared memory, and who
//! asks has to ask for the rest again.

use crate::explore;
use crate::settings::{OpenQuote, Setting, Settings};
use crate::strategy::{Aim, Spec, SpecError, Target, WeakSpec};
use rsan_model::ThreadId;
use std::fmt;
use std::str::FromStr;

/// Between the requests of a line. A request that has it is asked for alone.
pub const SEPARATOR: char = '\u{1e}';

/// A run that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Who goes on.
    pub choice: Choice,
    /// Steps before the run is cut off.
    pub limit: Option<u64>,
    /// Steps that a thread may make without another in between, though others could go on, before it is taken to wait.
    pub turn: Option<u64>,
    /// Milliseconds that the run may take.
    pub timeout: Option<u64>,
    /// The program's memory has addresses that do not depend on the schedule.
    pub steady: bool,
    /// Threads stay with their kernel threads.
    pub kernel_threads: bool,
    /// Loads return what the memory model allows, not only the last value.
    pub weak: bool,
    /// In a weak run: how many steps back writes are remembered.
    pub window: Option<u64>,
    /// In a weak run: stale reads are logged with their places.
    pub explain: bool,
}

/// Who goes on in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A strategy that draws.
    Sample {
        /// Which.
        spec: Spec,
        /// What it draws from.
        seed: u64,
        /// Steps of a run at which there is a choice, as far as they are known.
        steps: Option<u64>,
    },
    /// A strategy of weak executions that draws.
    Explore {
        /// Which.
        spec: WeakSpec,
        /// What it draws from.
        seed: u64,
        /// Steps of a run at which there is a choice, as far as they are known.
        steps: Option<u64>,
        /// Where it leaves sequential consistency.
        aim: Aim,
    },
    /// The schedule in this file.
    Replay(String),
    /// The same, as far as it is possible ([`crate::strategy::Follow`]).
    Follow(String),
    /// These threads, then whoever runs last, or the lowest.
    Prefix(Vec<ThreadId>),
    /// A plan of an exploration.
    Plan(explore::Plan),
}

impl Default for Choice {
    fn default() -> Self {
        Self::Prefix(Vec::new())
    }
}

impl From<Choice> for Request {
    fn from(choice: Choice) -> Self {
        let steady = matches!(choice, Choice::Plan(_));
        let weak = matches!(choice, Choice::Explore { .. });
        Self {
            choice,
            steady,
            weak,
            ..Self::default()
        }
    }
}

/// Why a text is no request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestError {
    /// A quote is not closed.
    Quote(OpenQuote),
    /// There is no such setting.
    Unknown(String),
    /// A value is no number, or not one of those that are wanted.
    Number(String),
    /// There is no such strategy.
    Strategy(SpecError),
    /// The words are no plan.
    Plan,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quote(open) => open.fmt(f),
            Self::Unknown(setting) => write!(f, "unknown '{setting}'"),
            Self::Number(setting) => write!(f, "bad number in '{setting}'"),
            Self::Strategy(error) => error.fmt(f),
            Self::Plan => write!(f, "bad words in 'plan'"),
        }
    }
}

impl std::error::Error for RequestError {}

impl FromStr for Request {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        let mut request = Self::default();
        // Plans are long, and there are many: they are read without being looked at as settings.
        let text = match leading_plan(text)? {
            None => text,
            Some((plan, rest)) => {
                (request.choice, request.steady) = (Choice::Plan(plan), true);
                rest
            }
        };
        // A strategy has colons of its own.
        let (settings, open) = Settings::read_separated(text, char::is_whitespace);
        if let Some(open) = open {
            return Err(RequestError::Quote(open));
        }
        let (mut spec, mut explore, mut seed, mut steps) = (None, None, 0, None);
        let mut aim = Aim::default();
        for setting in settings.iter() {
            match setting.name() {
                "strategy" => {
                    let named = setting.value().parse::<Spec>();
                    spec = Some(named.map_err(RequestError::Strategy)?);
                }
                "explore" => {
                    let named = setting.value().parse::<WeakSpec>();
                    explore = Some(named.map_err(RequestError::Strategy)?);
                    request.weak = true;
                }
                "seed" => seed = number(setting)?,
                "steps" => steps = Some(number(setting)?),
                "known" => aim.known = numbers(setting)?,
                "target" => aim.target = Some(target(setting)?),
                "only" => aim.only = number::<u64>(setting)? != 0,
                "first" => {
                    let threads = numbers(setting)?.into_iter();
                    aim.first = threads.map(ThreadId).collect();
                }
                "prefix" => {
                    let threads = numbers(setting)?.into_iter();
                    request.choice = Choice::Prefix(threads.map(ThreadId).collect());
                }
                "replay" => request.choice = Choice::Replay(setting.value().to_owned()),
                "follow" => request.choice = Choice::Follow(setting.value().to_owned()),
                "plan" => {
                    let words = numbers(setting).map_err(|_| RequestError::Plan)?;
                    let plan = explore::Plan::from_words(&words).ok_or(RequestError::Plan)?;
                    request.choice = Choice::Plan(plan);
                    request.steady = true;
                }
                "limit" => request.limit = Some(number(setting)?),
                "turn" => request.turn = Some(number(setting)?),
                "timeout" => request.timeout = Some(number(setting)?),
                "steady" => request.steady = number::<u64>(setting)? != 0,
                "weak" => request.weak = number::<u64>(setting)? != 0,
                "window" => request.window = Some(number(setting)?),
                "explain" => request.explain = number::<u64>(setting)? != 0,
                "kernel_threads" => request.kernel_threads = number::<u64>(setting)? != 0,
                _ => return Err(RequestError::Unknown(setting.plain())),
            }
        }
        if let Some(spec) = spec {
            request.choice = Choice::Sample { spec, seed, steps };
        } else if let Some(spec) = explore {
            request.choice = Choice::Explore {
                spec,
                seed,
                steps,
                aim,
            };
        }
        Ok(request)
    }
}

/// The plan that a request begins with, written as we write it, and what is behind it.
fn leading_plan(text: &str) -> Result<Option<(explore::Plan, &str)>, RequestError> {
    let Some(text) = text.strip_prefix("plan=") else {
        return Ok(None);
    };
    let length = text.bytes().position(|byte| byte == b' ');
    let (list, rest) = text.split_at(length.unwrap_or(text.len()));
    let mut words = Vec::with_capacity(list.len() / 8);
    let mut word = 0_u64;
    for byte in list.bytes() {
        match byte {
            b'0'..=b'9' => {
                let more = word.checked_mul(10);
                let more = more.and_then(|word| word.checked_add(u64::from(byte - b'0')));
                word = more.ok_or(RequestError::Plan)?;
            }
            b',' => words.push(std::mem::take(&mut word)),
            _ => return Ok(None),
        }
    }
    words.push(word);
    let plan = explore::Plan::from_words(&words).ok_or(RequestError::Plan)?;
    Ok(Some((plan, rest)))
}

fn number<T: FromStr>(setting: &Setting<'_>) -> Result<T, RequestError> {
    let number = setting.value().parse();
    number.map_err(|_| RequestError::Number(setting.plain()))
}

fn numbers<T: FromStr>(setting: &Setting<'_>) -> Result<Vec<T>, RequestError> {
    let words = setting.value().split(',').filter(|word| !word.is_empty());
    let numbers = words.map(str::parse).collect::<Result<_, _>>();
    numbers.map_err(|_| RequestError::Number(setting.plain()))
}

/// One place or two.
fn target(setting: &Setting<'_>) -> Result<Target, RequestError> {
    let (load, missed) = match numbers(setting)?[..] {
        [load] => (load, None),
        [load, missed] => (load, Some(missed)),
        _ => return Err(RequestError::Number(setting.plain())),
    };
    Ok(Target { load, missed })
}

/// Numbers with commas in between.
fn list(numbers: impl Iterator<Item = u64>) -> String {
    let words: Vec<_> = numbers.map(|number| number.to_string()).collect();
    words.join(",")
}

/// What a strategy draws from.
fn draw(settings: &mut Settings, seed: u64, steps: Option<u64>) {
    settings.add("seed", seed.to_string());
    if let Some(steps) = steps {
        settings.add("steps", steps.to_string());
    }
}

fn add_aim(settings: &mut Settings, aim: &Aim) {
    if !aim.known.is_empty() {
        settings.add("known", list(aim.known.iter().copied()));
    }
    if let Some(Target { load, missed }) = aim.target {
        settings.add("target", list([load].into_iter().chain(missed)));
    }
    if aim.only {
        settings.add("only", "1");
    }
    if !aim.first.is_empty() {
        let threads = aim.first.iter().map(|thread| thread.0.into());
        settings.add("first", list(threads));
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of a plan, what comes behind it.
        let mut settings = Settings::default();
        match &self.choice {
            Choice::Sample { spec, seed, steps } => {
                settings.add("strategy", spec.to_string());
                draw(&mut settings, *seed, *steps);
            }
            Choice::Explore {
                spec,
                seed,
                steps,
                aim,
            } => {
                settings.add("explore", spec.to_string());
                draw(&mut settings, *seed, *steps);
                add_aim(&mut settings, aim);
            }
            Choice::Replay(file) => settings.add("replay", file.as_str()),
            Choice::Follow(file) => settings.add("follow", file.as_str()),
            Choice::Prefix(threads) => {
                settings.add("prefix", list(threads.iter().map(|thread| thread.0.into())));
            }
            Choice::Plan(plan) => {
                let mut before = "plan=";
                for word in plan.to_words() {
                    write!(f, "{before}{word}")?;
                    before = ",";
                }
            }
        }
        let numbers = [
            ("limit", self.limit),
            ("turn", self.turn),
            ("timeout", self.timeout),
            ("window", self.window),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                settings.add(name, number.to_string());
            }
        }
        // A plan is steady unless it says otherwise.
        if self.steady != matches!(self.choice, Choice::Plan(_)) {
            settings.add("steady", u8::from(self.steady).to_string());
        }
        if self.weak != matches!(self.choice, Choice::Explore { .. }) {
            settings.add("weak", u8::from(self.weak).to_string());
        }
        let flags = [
            ("kernel_threads", self.kernel_threads),
            ("explain", self.explain),
        ];
        for (name, _) in flags.iter().filter(|(_, set)| *set) {
            settings.add(*name, "1");
        }
        if matches!(self.choice, Choice::Plan(_)) && settings.iter().next().is_some() {
            f.write_str(" ")?;
        }
        settings.fmt(f)
    }
}

/// What comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The run was made.
    End {
        /// The status of its process, as `wait` has it.
        status: i32,
        /// It was ended because its time was over.
        timed_out: bool,
        /// Bytes of the runs that were made before it ([`crate::shared::kept`]).
        kept: u64,
    },
    /// It could not be made.
    Error(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End {
                status,
                timed_out,
                kept,
            } => {
                write!(f, "end status={status} timeout={}", u8::from(*timed_out))?;
                match kept {
                    0 => Ok(()),
                    kept => write!(f, " kept={kept}"),
                }
            }
            Self::Error(message) => {
                // The answer is one line.
                let lines: Vec<_> = message.lines().collect();
                write!(f, "error {}", lines.join(" "))
            }
        }
    }
}

/// A line that is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an answer")
    }
}

impl std::error::Error for NoAnswer {}

impl FromStr for Answer {
    type Err = NoAnswer;

    fn from_str(line: &str) -> Result<Self, NoAnswer> {
        let (what, rest) = line.split_once(' ').ok_or(NoAnswer)?;
        if what == "error" {
            return Ok(Self::Error(rest.to_owned()));
        }
        let (settings, _) = Settings::read(rest);
        let number = |name| settings.get(name).and_then(|value| value.parse().ok());
        let kept = settings.get("kept").map_or(Ok(0), str::parse);
        match (what, number("status"), number("timeout"), kept) {
            ("end", Some(status), Some(timed_out), Ok(kept)) => Ok(Self::End {
                status,
                timed_out: timed_out != 0,
                kept,
            }),
            _ => Err(NoAnswer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::explore::{Plan, PlanStep, Stop, Unready};

    fn choices() -> Vec<Choice> {
        let sample = |spec: &str, steps| Choice::Sample {
            spec: spec.parse().expect("a strategy"),
            seed: u64::MAX,
            steps,
        };
        let explore = |spec: &str, aim| Choice::Explore {
            spec: spec.parse().expect("a strategy"),
            seed: 7,
            steps: Some(3),
            aim,
        };
        let step = |thread, unready| PlanStep::new(ThreadId(thread), Kind::Lock, unready);
        vec![
            sample("random", None),
            sample("pct:depth=3,steps=9", Some(17)),
            sample("pos", Some(0)),
            explore("random", Aim::default()),
            explore(
                "guided:stale=10",
                Aim {
                    known: vec![1, u64::MAX],
                    target: Some(Target {
                        load: 7,
                        missed: None,
                    }),
                    only: false,
                    first: [0, 2, 0].map(ThreadId).to_vec(),
                },
            ),
            explore(
                "guided",
                Aim {
                    known: Vec::new(),
                    target: Some(Target {
                        load: 7,
                        missed: Some(u64::MAX),
                    }),
                    only: true,
                    first: Vec::new(),
                },
            ),
            Choice::Replay("/tmp/a.sched".to_owned()),
            Choice::Follow("/tmp/a b.sched".to_owned()),
            Choice::Replay("it's a \"file\": x=1 \t.sched".to_owned()),
            Choice::Prefix(Vec::new()),
            Choice::Prefix([0, 7, u32::MAX].map(ThreadId).to_vec()),
            Choice::Plan(Plan::default()),
            Choice::Plan(Plan {
                steps: vec![step(0, Unready::Diverges), step(9, Unready::Waits)],
                most: Some(5),
                stops: vec![Stop {
                    thread: ThreadId(9),
                    step: 3,
                    value: u64::MAX,
                }],
                ends: vec![(7, u64::MAX)],
                rests: vec![(8, 0)],
            }),
        ]
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        for choice in choices() {
            let plain = Request::from(choice);
            let full = Request {
                limit: Some(u64::MAX),
                turn: Some(0),
                timeout: Some(10_000),
                steady: !plain.steady,
                kernel_threads: true,
                weak: !plain.weak,
                window: Some(9),
                explain: true,
                ..plain.clone()
            };
            for request in [plain, full] {
                let text = request.to_string();
                assert!(!text.contains('\n'), "{text}");
                assert_eq!(text.parse().as_ref(), Ok(&request), "{text}");
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_request_is_told() {
        let error = |text: &str| text.parse::<Request>().expect_err("an error").to_string();
        assert_eq!(error("luck=1"), "unknown 'luck=1'");
        assert_eq!(error("limit=x"), "bad number in 'limit=x'");
        assert_eq!(error("prefix=1,-1"), "bad number in 'prefix=1,-1'");
        assert_eq!(error("target=1,2,3"), "bad number in 'target=1,2,3'");
        assert_eq!(error("target="), "bad number in 'target='");
        assert_eq!(error("plan=1"), "bad words in 'plan'");
        assert_eq!(error("plan=a"), "bad words in 'plan'");
        assert_eq!(error("replay='a"), "a quote is not closed in 'replay=a'");
        assert!(error("strategy=luck").contains("no strategy is called `luck`"));
    }

    #[test]
    fn answers_are_one_line_and_understood() {
        let answers = [
            Answer::End {
                status: 0,
                timed_out: false,
                kept: 0,
            },
            Answer::End {
                status: -9,
                timed_out: true,
                kept: 1 << 20,
            },
            Answer::Error("no such file: a=1 'b".to_owned()),
        ];
        for answer in answers {
            assert_eq!(answer.to_string().parse(), Ok(answer));
        }
        let lines = Answer::Error("two\nlines".to_owned()).to_string();
        assert_eq!(lines, "error two lines");
        for wrong in [
            "",
            "end",
            "end status=0",
            "end status=x timeout=0",
            "end status=0 timeout=0 kept=x",
            "run x",
        ] {
            assert_eq!(wrong.parse::<Answer>(), Err(NoAnswer));
        }
    }
}
