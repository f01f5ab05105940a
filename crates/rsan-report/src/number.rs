//! Numbers the way people read them: `1,234`, `0.01 s`, `640.0 MiB`.

use std::time::Duration;

/// A count with thousands separated by commas.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and its noun, in the plural unless there is exactly one: `1 state`, `2 states`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Seconds with two decimals.
pub fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// Bytes in the largest binary unit that leaves at least 1 before the point.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 || unit == "GiB" {
            let decimals = usize::from(unit != "B");
            return format!("{value:.decimals$} {unit}");
        }
        value /= 1024.0;
    }
    unreachable!("the last unit takes every value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_units_chosen() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "state"), "1 state");
        assert_eq!(plural(12_000, "state"), "12,000 states");
        assert_eq!(seconds(Duration::from_millis(1_005)), "1.00 s");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(640 << 20), "640.0 MiB");
        assert_eq!(bytes(5000 << 30), "5000.0 GiB");
    }
}
