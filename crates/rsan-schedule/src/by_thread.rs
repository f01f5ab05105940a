//! Something for each thread, as a list: runs have few threads, and there are very many runs.

/// By thread, in the order in which they came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ByThread<T>(Vec<(u32, T)>);

impl<T> Default for ByThread<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByThread<T> {
    fn place(&self, thread: u32) -> Option<usize> {
        self.0.iter().position(|(known, _)| *known == thread)
    }

    /// That of the thread.
    pub(crate) fn get(&self, thread: u32) -> Option<&T> {
        self.place(thread).map(|place| &self.0[place].1)
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, thread: u32) -> Option<&mut T> {
        self.place(thread).map(|place| &mut self.0[place].1)
    }

    /// That of the thread; `new`, if it has none.
    pub(crate) fn or_insert(&mut self, thread: u32, new: T) -> &mut T {
        let place = self.place(thread).unwrap_or_else(|| {
            self.0.push((thread, new));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// The thread has this now; what it had before.
    pub(crate) fn insert(&mut self, thread: u32, new: T) -> Option<T> {
        match self.get_mut(thread) {
            Some(known) => Some(std::mem::replace(known, new)),
            None => {
                self.0.push((thread, new));
                None
            }
        }
    }

    /// Number of threads.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
