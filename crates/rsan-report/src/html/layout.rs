//! Where the parts of a drawing are: boxes in a grid of rows and columns, and curves between their sides.
//!
//! Edges leave and enter boxes at their left and right sides, at points of their own, so that two of them never share an
//! end; program order goes from bottom to top. A label is put where it covers neither a box nor another label.

use super::graph::{Graph, Line, Row};
use super::markup::shortened;
use crate::document::Edge;
use std::collections::BTreeMap;

/// The width of a character of the drawing's font, and of the larger one of headings.
const CHARACTER: f64 = 7.3;
/// How much of an operation a box shows.
const LIMIT: usize = 34;
/// Left of the columns: the numbers of the steps.
const GUTTER: f64 = 84.0;
/// Between columns, for edges.
const BETWEEN: f64 = 128.0;
/// Inside a lane, beside its boxes.
const INSET: f64 = 14.0;
pub(super) const HEADER: f64 = 34.0;
const BOX_HEIGHT: f64 = 42.0;
const ROW_HEIGHT: f64 = 66.0;
const FLUSH_HEIGHT: f64 = 26.0;
const SLIM_ROW: f64 = 44.0;

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(super) fn middle(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    fn touches(self, other: Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

/// An edge: a cubic curve, and where its label is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Curve {
    pub(super) line: Line,
    pub(super) points: [(f64, f64); 4],
    pub(super) label: (f64, f64),
}

/// A drawing with places.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// One for each thread.
    pub(super) lanes: Vec<Area>,
    /// Boxes of events, initial ones too.
    pub(super) boxes: BTreeMap<u32, Area>,
    /// One for each row; a flush has its pill there.
    pub(super) rows: Vec<Area>,
    pub(super) curves: Vec<Curve>,
}

impl Layout {
    pub(super) fn new(graph: &Graph<'_>) -> Self {
        let widths: Vec<f64> = (0..graph.threads.len())
            .map(|column| column_width(graph, column))
            .collect();
        let mut x = GUTTER;
        let mut lanes: Vec<Area> = Vec::new();
        for width in widths {
            lanes.push(Area {
                x,
                y: 0.0,
                width: width + 2.0 * INSET,
                height: 0.0,
            });
            x += width + 2.0 * INSET + BETWEEN;
        }
        let mut layout = Self {
            width: x - BETWEEN + 64.0,
            height: 0.0,
            lanes,
            boxes: BTreeMap::new(),
            rows: Vec::new(),
            curves: Vec::new(),
        };
        let top = layout.initial(graph, HEADER + 18.0);
        layout.grid(graph, top);
        layout.curves = layout.route(graph);
        layout
    }

    /// Places initial values in a line, each near those who read it; says where the rows begin.
    fn initial(&mut self, graph: &Graph<'_>, top: f64) -> f64 {
        let mut wanted: Vec<(f64, f64, u32)> = Vec::new();
        for &value in &graph.initial {
            let ends = graph.lines.iter().filter(|line| line.from == value);
            let columns: Vec<f64> = ends
                .filter_map(|line| Some(self.lanes[graph.column(line.to)?].middle().0))
                .collect();
            let x = match columns.len() {
                0 => GUTTER,
                n => columns.iter().sum::<f64>() / n as f64,
            };
            wanted.push((x, 40.0 + CHARACTER * label_length(graph, value), value));
        }
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let mut left = GUTTER;
        for (x, width, value) in wanted {
            let x = (x - width / 2.0).max(left);
            left = x + width + 16.0;
            let height = 28.0;
            self.width = self.width.max(left + 48.0);
            self.boxes.insert(
                value,
                Area {
                    x,
                    y: top,
                    width,
                    height,
                },
            );
        }
        if graph.initial.is_empty() {
            top
        } else {
            top + 28.0 + 28.0
        }
    }

    fn grid(&mut self, graph: &Graph<'_>, top: f64) {
        let mut y = top;
        for row in &graph.rows {
            let (height, step) = match row {
                Row::Event(..) => (BOX_HEIGHT, ROW_HEIGHT),
                Row::Flush(..) | Row::Gap(_) => (FLUSH_HEIGHT, SLIM_ROW),
            };
            let lane = match *row {
                Row::Event(event, _) | Row::Flush(event, _) => {
                    graph.column(event).map(|column| self.lanes[column])
                }
                Row::Gap(_) => None,
            };
            let (x, width) = match lane {
                Some(lane) => (lane.x + INSET, lane.width - 2.0 * INSET),
                None => (GUTTER, self.width - 2.0 * GUTTER),
            };
            let area = Area {
                x,
                y,
                width,
                height,
            };
            if let Row::Event(event, _) = *row {
                self.boxes.insert(event, area);
            }
            self.rows.push(area);
            y += step;
        }
        let bottom = y - (ROW_HEIGHT - BOX_HEIGHT) + 14.0;
        for lane in &mut self.lanes {
            lane.height = bottom;
        }
        self.height = bottom + 4.0;
    }

    fn route(&self, graph: &Graph<'_>) -> Vec<Curve> {
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
        let control = |point: (f64, f64), side: Side| match side {
            Side::Left => (point.0 - reach, point.1),
            Side::Right => (point.0 + reach, point.1),
        };
        Some([start, control(start, out), control(end, into), end])
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

/// What a box says: the operation and, below it, the order and the place.
pub(super) fn lines_of_box(graph: &Graph<'_>, number: u32) -> (String, String) {
    let Some(event) = graph.event(number) else {
        return (String::new(), String::new());
    };
    let mut operation = event.operation.as_str();
    if let Some(order) = &event.order {
        let suffix = format!(" ({order})");
        operation = operation.strip_suffix(suffix.as_str()).unwrap_or(operation);
    }
    let place = super::event_place(event);
    let below: Vec<&str> = event
        .order
        .as_deref()
        .into_iter()
        .chain(place.as_deref())
        .collect();
    let operation = operation.replace("->", "→");
    (
        shortened(&operation, LIMIT),
        shortened(&below.join(" · "), LIMIT),
    )
}

fn label_length(graph: &Graph<'_>, number: u32) -> f64 {
    let (operation, below) = lines_of_box(graph, number);
    operation.chars().count().max(below.chars().count()) as f64
}

fn column_width(graph: &Graph<'_>, column: usize) -> f64 {
    let of_column = graph.rows.iter().filter_map(|row| match *row {
        Row::Event(event, _) | Row::Flush(event, _) => {
            (graph.column(event) == Some(column)).then_some(event)
        }
        Row::Gap(_) => None,
    });
    let longest = of_column
        .map(|event| label_length(graph, event))
        .fold(16.0, f64::max);
    (longest * CHARACTER + 44.0).ceil()
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
