//! How edges run: curves between the sides of boxes.
//!
//! An edge leaves and enters boxes at their left and right sides, at points of its own, so that two of them never share an
//! end; program order goes from bottom to top. A curve is bent until it is behind as few boxes as possible, and a label is
//! put where it covers neither a box nor another label.

use super::graph::{Graph, Line};
use super::layout::{Area, HEADER, Layout};
use crate::document::Edge;
use std::collections::BTreeMap;

/// How far a curve is bent up or down to pass by boxes, the least first.
const BENDS: [f64; 9] = [0.0, 45.0, -45.0, 90.0, -90.0, 140.0, -140.0, 200.0, -200.0];
/// Points of a curve at which that is looked at.
const SAMPLES: u32 = 24;

/// An edge: a cubic curve, and where its label is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Curve {
    pub(super) line: Line,
    pub(super) points: [(f64, f64); 4],
    pub(super) label: (f64, f64),
}

impl Layout {
    /// The curves of all edges.
    pub(super) fn route(&self, graph: &Graph<'_>) -> Vec<Curve> {
        let ports = self.ports(graph);
        let mut taken: Vec<Area> = self.boxes.values().chain(&self.rows).copied().collect();
        let mut curves = Vec::new();
        // The cycle's labels choose first.
        for line in graph.lines.iter().rev() {
            let points = match line.edge {
                Edge::Po => self.straight(*line),
                Edge::Asw | Edge::Sw | Edge::Rf | Edge::Mo | Edge::Fr | Edge::Sc => {
                    self.curved(*line, &ports)
                }
            };
            let Some(points) = points else { continue };
            let aside = match line.edge {
                // Beside the line, which is short.
                Edge::Po => 24.0,
                Edge::Asw | Edge::Sw | Edge::Rf | Edge::Mo | Edge::Fr | Edge::Sc => 0.0,
            };
            let label = free_place(points, aside, &taken);
            taken.push(around(label));
            curves.push(Curve {
                line: *line,
                points,
                label,
            });
        }
        curves.reverse();
        curves
    }

    /// Program order, from box to box.
    fn straight(&self, line: Line) -> Option<[(f64, f64); 4]> {
        let (from, to) = (self.boxes.get(&line.from)?, self.boxes.get(&line.to)?);
        let start = (from.middle().0, from.bottom());
        let end = (to.middle().0, to.y);
        let between = |t: f64| {
            (
                start.0 + (end.0 - start.0) * t,
                start.1 + (end.1 - start.1) * t,
            )
        };
        Some([start, between(1.0 / 3.0), between(2.0 / 3.0), end])
    }

    fn curved(&self, line: Line, ports: &Ports) -> Option<[(f64, f64); 4]> {
        let (from, to) = (self.boxes.get(&line.from)?, self.boxes.get(&line.to)?);
        let (out, into) = self.sides(line)?;
        let start = ports.point(*from, (line, End::From), out);
        let end = ports.point(*to, (line, End::To), into);
        let height = (end.1 - start.1).abs();
        let reach = if out == into {
            // Around what lies between, in the space beside the column.
            28.0 + (height / 12.0).min(28.0)
        } else {
            ((end.0 - start.0).abs() / 2.0).max(36.0)
        };
        let control = |point: (f64, f64), side: Side, bend: f64| {
            let y = (point.1 + bend).clamp(HEADER, self.height);
            match side {
                Side::Left => (point.0 - reach, y),
                Side::Right => (point.0 + reach, y),
            }
        };
        let bent = |bend| {
            [
                start,
                control(start, out, bend),
                control(end, into, bend),
                end,
            ]
        };
        let ends = [line.from, line.to];
        BENDS
            .into_iter()
            .map(|bend| (self.covered(bent(bend), ends), bend))
            .min_by_key(|&(covered, _)| covered)
            .map(|(_, bend)| bent(bend))
    }

    /// How much of a curve is behind boxes that are not its ends.
    fn covered(&self, points: [(f64, f64); 4], ends: [u32; 2]) -> usize {
        let boxes = self.boxes.iter().filter(|(event, _)| !ends.contains(event));
        let boxes: Vec<Area> = boxes.map(|(_, area)| *area).collect();
        (1..SAMPLES)
            .map(|i| at(points, f64::from(i) / f64::from(SAMPLES)))
            .filter(|&point| boxes.iter().any(|area| area.contains(point)))
            .count()
    }

    /// At which sides an edge leaves and enters: the ones that face each other, or the outer one of a column.
    fn sides(&self, line: Line) -> Option<(Side, Side)> {
        let (from, to) = (self.boxes.get(&line.from)?, self.boxes.get(&line.to)?);
        if from.right() <= to.x {
            return Some((Side::Right, Side::Left));
        }
        if to.right() <= from.x {
            return Some((Side::Left, Side::Right));
        }
        // One above the other: to the right but in the first of several columns, which has the margin.
        let last = self.lanes.last().map_or(0.0, |lane| lane.x);
        let side = if to.x < last { Side::Left } else { Side::Right };
        Some((side, side))
    }

    fn ports(&self, graph: &Graph<'_>) -> Ports {
        let mut ends: BTreeMap<(u32, Side), Vec<(f64, Line, End)>> = BTreeMap::new();
        for line in graph.lines.iter().filter(|line| line.edge != Edge::Po) {
            let Some((out, into)) = self.sides(*line) else {
                continue;
            };
            let (Some(from), Some(to)) = (self.boxes.get(&line.from), self.boxes.get(&line.to))
            else {
                continue;
            };
            let from_end = (to.y, *line, End::From);
            ends.entry((line.from, out)).or_default().push(from_end);
            let to_end = (from.y, *line, End::To);
            ends.entry((line.to, into)).or_default().push(to_end);
        }
        let mut places = BTreeMap::new();
        for ends in ends.values_mut() {
            ends.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            let count = ends.len() as f64;
            for (i, &(_, line, end)) in ends.iter().enumerate() {
                places.insert((line, end), (i as f64 + 1.0) / (count + 1.0));
            }
        }
        Ports(places)
    }
}

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Left,
    Right,
}

/// An end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    From,
    To,
}

/// How far down a side each end is, from 0 to 1.
struct Ports(BTreeMap<(Line, End), f64>);

impl Ports {
    fn point(&self, area: Area, end: (Line, End), side: Side) -> (f64, f64) {
        let share = self.0.get(&end).copied().unwrap_or(0.5);
        let y = area.y + area.height * share;
        match side {
            Side::Left => (area.x, y),
            Side::Right => (area.right(), y),
        }
    }
}

/// A point of a cubic curve.
fn at(points: [(f64, f64); 4], t: f64) -> (f64, f64) {
    let u = 1.0 - t;
    let weights = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
    points
        .iter()
        .zip(weights)
        .fold((0.0, 0.0), |sum, (point, weight)| {
            (sum.0 + point.0 * weight, sum.1 + point.1 * weight)
        })
}

/// The place of a label on a curve, or beside it, that covers nothing, as near to the middle as there is one.
fn free_place(points: [(f64, f64); 4], aside: f64, taken: &[Area]) -> (f64, f64) {
    let place = |t: f64| {
        let (x, y) = at(points, t);
        (x + aside, y)
    };
    let candidates = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
    let covers =
        |place, space: fn((f64, f64)) -> Area| taken.iter().any(|area| area.touches(space(place)));
    let with_distance = candidates.iter().map(|&t| place(t));
    let without = with_distance.clone();
    with_distance
        .filter(|&place| !covers(place, spaced))
        .chain(without.filter(|&place| !covers(place, around)))
        .next()
        .unwrap_or_else(|| place(0.5))
}

/// The space that a label takes.
pub(super) fn around((x, y): (f64, f64)) -> Area {
    Area {
        x: x - 15.0,
        y: y - 9.0,
        width: 30.0,
        height: 18.0,
    }
}

/// The same with some distance to what is beside it.
fn spaced(place: (f64, f64)) -> Area {
    let label = around(place);
    Area {
        x: label.x - 5.0,
        y: label.y - 5.0,
        width: label.width + 10.0,
        height: label.height + 10.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_avoids_what_is_there() {
        let straight = [(0.0, 0.0), (100.0, 0.0), (200.0, 0.0), (300.0, 0.0)];
        assert_eq!(free_place(straight, 0.0, &[]), (150.0, 0.0));
        let there = around((150.0, 0.0));
        let place = free_place(straight, 0.0, &[there]);
        assert!(!around(place).touches(there), "{place:?}");
    }
}
