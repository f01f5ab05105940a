//! Hash tables whose order is fixed, and which need no random numbers of the system: a filter of system calls may forbid these.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

type Fixed = BuildHasherDefault<DefaultHasher>;

/// A map.
pub type Map<K, V> = HashMap<K, V, Fixed>;

/// A set.
pub type Set<T> = HashSet<T, Fixed>;
