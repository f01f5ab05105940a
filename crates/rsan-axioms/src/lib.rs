//! Memory models as predicates on execution graphs, and the exhaustive oracle.
