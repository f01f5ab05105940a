//! Online monitors for robustness and data races.
