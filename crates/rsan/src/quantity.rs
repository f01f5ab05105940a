//! Quantities on the command line: `4G` of memory, `30s` of time.

use std::time::Duration;

/// Bytes: a number and an optional unit K, M, G or T (powers of 1024; an added `B` or `iB` changes nothing).
///
/// # Errors
/// What is wrong, for the user.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_uppercase();
    let unit = unit
        .strip_suffix("IB")
        .or(unit.strip_suffix('B'))
        .unwrap_or(&unit);
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("expected a size such as 500M or 4G".to_owned()),
    };
    let bytes = number * f64::from(2_u32).powi(shift);
    if bytes < 1.0 || bytes >= u64::MAX as f64 {
        return Err("the size is out of range".to_owned());
    }
    Ok(bytes as u64)
}

/// Time: a number and a unit ms, s (the default), m or h.
///
/// # Errors
/// What is wrong, for the user.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err("expected a time such as 500ms, 30s or 5m".to_owned()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| "the time is out of range".to_owned())
}

/// The leading number (digits, perhaps with a point) and the rest.
fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number
        .parse()
        .map_err(|_| "expected a number, with or without a unit".to_owned())?;
    Ok((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_binary_units() {
        assert_eq!(bytes("4G"), Ok(4 << 30));
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("1.5k"), Ok(1536));
        assert_eq!(bytes("100"), Ok(100));
        for wrong in ["", "G", "-1", "4X", "0", "1e9", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_take_the_usual_units() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "s", "-1s", "1d", "99999999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
