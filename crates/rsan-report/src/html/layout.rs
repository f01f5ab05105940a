//! Where the parts of a drawing are: boxes in a grid of rows and columns, and curves between their sides.
//! The curves are found in `route.rs`.

use super::graph::{Graph, Row};
use super::markup::shortened;
use super::route::Curve;
use std::collections::BTreeMap;

/// The width of a character of the drawing's font, and of the larger one of headings.
const CHARACTER: f64 = 7.3;
/// How much of an operation a box shows.
const LIMIT: usize = 34;
/// Left of the columns: the numbers of the steps.
const GUTTER: f64 = 84.0;
/// Between columns, for edges.
const BETWEEN: f64 = 128.0;
/// The same when there are more than three columns.
const BETWEEN_MANY: f64 = 92.0;
/// Inside a lane, beside its boxes.
const INSET: f64 = 14.0;
pub(super) const HEADER: f64 = 34.0;
const BOX_HEIGHT: f64 = 42.0;
const ROW_HEIGHT: f64 = 66.0;
/// The same when there are more than this many rows.
const LOW_ROW: f64 = 55.0;
const MANY_ROWS: usize = 14;
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

    pub(super) fn contains(self, (x, y): (f64, f64)) -> bool {
        (self.x..self.right()).contains(&x) && (self.y..self.bottom()).contains(&y)
    }

    pub(super) fn touches(self, other: Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
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
        let between = if widths.len() > 3 {
            BETWEEN_MANY
        } else {
            BETWEEN
        };
        let mut x = GUTTER;
        let mut lanes: Vec<Area> = Vec::new();
        for width in widths {
            lanes.push(Area {
                x,
                y: 0.0,
                width: width + 2.0 * INSET,
                height: 0.0,
            });
            x += width + 2.0 * INSET + between;
        }
        let mut layout = Self {
            width: x - between + 64.0,
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
        let full = if graph.rows.len() > MANY_ROWS {
            LOW_ROW
        } else {
            ROW_HEIGHT
        };
        for row in &graph.rows {
            let (height, step) = match row {
                Row::Event(..) => (BOX_HEIGHT, full),
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
        let bottom = y - (full - BOX_HEIGHT) + 14.0;
        for lane in &mut self.lanes {
            lane.height = bottom;
        }
        self.height = bottom + 4.0;
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
