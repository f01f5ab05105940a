//! A finding as text, JSON or a graph.
