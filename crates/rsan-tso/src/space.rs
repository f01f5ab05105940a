//! The SC configurations of a program, found breadth first; walks at random bring in some from afar.

use crate::attacker::Leave;
use crate::compiled::Compiled;
use crate::config::{Addresses, Config};
use crate::steps::Trouble;
use crate::store::{Origin, Store};
use rsan_model::{Reason, Value};
use rsan_random::Random;

/// A shared step: a thread and one of its transitions.
pub(crate) type Step = (usize, u32);

/// What a search keeps in a configuration beyond what a step does: called with the configuration before, the step and the
/// configuration after it.
pub(crate) type Note = fn(&Compiled<'_>, &Config, Step, &mut Config);

/// Threads are bits of a word.
const MAX_THREADS: usize = 64;

pub(crate) struct Space<'a> {
    pub(crate) compiled: &'a Compiled<'a>,
    pub(crate) addresses: Addresses,
    pub(crate) states: Store,
    /// The states before this one are expanded.
    pub(crate) expanded: usize,
    note: Note,
    numbers: Vec<Value>,
}

impl<'a> Space<'a> {
    /// With the initial configurations.
    ///
    /// # Errors
    /// When a thread fails before its first access, or there are too many.
    pub(crate) fn new(compiled: &'a Compiled<'a>, note: Note) -> Result<Self, Leave> {
        if compiled.automata.threads.len() > MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(Leave::Limit(Reason::TooLarge(message)));
        }
        let mut space = Self {
            compiled,
            addresses: Addresses::default(),
            states: Store::default(),
            expanded: 0,
            note,
            numbers: Vec::new(),
        };
        for config in compiled.initial(&mut space.addresses)? {
            config.encode(&mut space.numbers);
            space.states.insert(&space.numbers, Origin::ROOT);
        }
        Ok(space)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.expanded == self.states.len()
    }

    /// A configuration by its number.
    pub(crate) fn config(&self, number: u32, numbers: &mut Vec<Value>) -> Config {
        self.states.read(number, numbers);
        let threads = self.compiled.automata.threads.len();
        Config::decode(numbers, threads, self.compiled.register_count())
    }

    /// Expands the next configuration; says whether anything follows it.
    ///
    /// # Errors
    /// When the program fails in it; it stays the next one.
    pub(crate) fn expand_next(&mut self) -> Result<bool, Trouble> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let parent = self.expanded as u32;
        let config = self.config(parent, &mut numbers);
        let mut moved = false;
        for thread in 0..self.compiled.automata.threads.len() {
            if !config.may_access(thread) {
                continue;
            }
            let (compiled, states, note) = (self.compiled, &mut self.states, self.note);
            compiled.step(&config, thread, &mut self.addresses, &mut |t, mut after| {
                moved = true;
                note(compiled, &config, (thread, t), &mut after);
                after.encode(&mut numbers);
                states.insert(&numbers, Origin::new(parent, thread, t));
            })?;
        }
        self.numbers = numbers;
        self.expanded += 1;
        Ok(moved)
    }

    /// A run of up to `steps` steps from the beginning, each by a thread chosen at random. What is new in it is added.
    pub(crate) fn walk(&mut self, random: &mut Random, steps: usize) {
        let threads = self.compiled.automata.threads.len();
        let mut numbers = Vec::new();
        // How often the same thread goes on, in quarters.
        let stubborn = random.below(4);
        let (mut at, mut thread) = (0, random.below(threads));
        for _ in 0..steps {
            if random.below(4) >= stubborn {
                thread = random.below(threads);
            }
            let config = self.config(at, &mut numbers);
            let next = (0..threads)
                .map(|i| (thread + i) % threads)
                .find_map(|t| Some((t, self.step_of(&config, t, random)?)));
            let Some((actor, (transition, after))) = next else {
                return;
            };
            thread = actor;
            after.encode(&mut numbers);
            let origin = Origin::new(at, thread, transition);
            at = self.states.insert(&numbers, origin).0;
        }
    }

    /// A step of a thread to another configuration, chosen at random.
    fn step_of(
        &mut self,
        config: &Config,
        thread: usize,
        random: &mut Random,
    ) -> Option<(u32, Config)> {
        if !config.may_access(thread) {
            return None;
        }
        let (compiled, note) = (self.compiled, self.note);
        let mut all = Vec::new();
        let done = compiled.step(config, thread, &mut self.addresses, &mut |t, mut after| {
            note(compiled, config, (thread, t), &mut after);
            if after != *config {
                all.push((t, after));
            }
        });
        // A failure is found, and reported, when its turn comes in the breadth first order.
        let is_some = done.is_ok() && !all.is_empty();
        is_some.then(|| all.swap_remove(random.below(all.len())))
    }

    /// The steps that lead to a configuration.
    pub(crate) fn path(&self, state: u32) -> Vec<Step> {
        let mut path = Vec::new();
        let mut at = state;
        loop {
            let origin = self.states.origin(at);
            if origin.parent == Origin::NONE {
                path.reverse();
                return path;
            }
            path.push((usize::from(origin.thread), origin.transition));
            at = origin.parent;
        }
    }
}

/// Nothing is kept.
pub(crate) fn plain(_: &Compiled<'_>, _: &Config, _: Step, _: &mut Config) {}
