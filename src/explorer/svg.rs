//! Pictures of segments as SVG, which any browser shows.
//!
//! `rust-sugiyama` computes a layered layout of the boxes, from producers to users. Arrows are Bézier curves from the
//! middle of a box's bottom edge to the middle of another box's top edge. Text widths assume a monospaced font.

use rust_sugiyama::configure::Config;
use rust_sugiyama::from_vertices_and_edges;
use serde_json::Value;

use super::picture::{self, Picture};

/// The width of a character and the height of a line, in points.
const CHARACTER: f64 = 6.7;
const LINE: f64 = 14.0;
/// The margin around the text in a box and the distance between boxes, in points.
const MARGIN: f64 = 8.0;
const APART: f64 = 36.0;
/// The maximum numbers of boxes for which neighbors are exchanged, and for which long arrows are routed around boxes.
/// Both take quadratic time.
const EXCHANGED: usize = 300;
const KEPT_AWAY: usize = 1000;
/// The maximum number of boxes for a layered layout. More boxes are drawn in one column, in execution order.
const LAID_OUT: usize = 3000;
/// The candidate positions of a label along its arrow, the best first. The first one that overlaps no box is used.
const LABELED: [f64; 7] = [0.5, 0.35, 0.65, 0.25, 0.75, 0.15, 0.85];

/// The picture of a report, or of several, one below the other.
pub fn svg(report: &Value) -> String {
    let (mut body, mut width, mut height) = (String::new(), 0.0_f64, APART / 2.0);
    for picture in picture::of(report) {
        let places = places(&picture);
        body += &format!("<g transform=\"translate(0 {height})\">\n");
        draw(&mut body, &picture, &places);
        body += "</g>\n";
        let right = places.iter().map(|place| place.x + place.width);
        let bottom = places.iter().map(|place| place.y + place.height);
        width = right.fold(width.max(text_width(&picture.title)), f64::max);
        height += bottom.fold(LINE, f64::max) + APART;
    }
    let width = width + APART;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"11\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#0b57c4\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// The place of a box: its upper left corner and its size, in points.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

fn places(picture: &Picture) -> Vec<Place> {
    let sizes = picture.boxes.iter().map(|node| {
        let widths = node.lines.iter().map(|line| text_width(line));
        let width = widths.fold(0.0, f64::max) + 2.0 * MARGIN;
        (width, node.lines.len() as f64 * LINE + 2.0 * MARGIN)
    });
    let sizes: Vec<(f64, f64)> = sizes.collect();
    let centers = match sizes.len() {
        0 => Vec::new(),
        1..=LAID_OUT => layered(picture, &sizes),
        _ => column(&sizes),
    };
    let corners = centers.iter().zip(&sizes);
    let corners: Vec<(f64, f64)> = corners
        .map(|((x, y), (width, height))| (x - width / 2.0, y - height / 2.0))
        .collect();
    let left = corners
        .iter()
        .fold(f64::INFINITY, |left, (x, _)| left.min(*x));
    let top = corners
        .iter()
        .fold(f64::INFINITY, |top, (_, y)| top.min(*y));
    let place = |((x, y), (width, height)): (&(f64, f64), &(f64, f64))| Place {
        x: x - left + APART / 2.0,
        y: y - top + 2.0 * LINE,
        width: *width,
        height: *height,
    };
    corners.iter().zip(&sizes).map(place).collect()
}

/// The centers of the boxes in layers. Parts of the program without a common value are placed side by side.
fn layered(picture: &Picture, sizes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let config = Config {
        vertex_spacing: APART,
        transpose: sizes.len() <= EXCHANGED,
        dummy_vertices: sizes.len() <= KEPT_AWAY,
        ..Config::default()
    };
    let vertices: Vec<(u32, (f64, f64))> = (0..).zip(sizes.iter().copied()).collect();
    let mut edges: Vec<(u32, u32)> = picture
        .arrows
        .iter()
        .filter(|arrow| arrow.from != arrow.to)
        .map(|arrow| (arrow.from as u32, arrow.to as u32))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut centers = vec![(0.0, 0.0); sizes.len()];
    let mut from = 0.0;
    for (part, ..) in from_vertices_and_edges(&vertices, &edges, &config) {
        let half = |at: usize| sizes[at].0 / 2.0;
        let left = part.iter().map(|(at, (x, _))| x - half(*at));
        let left = left.fold(f64::INFINITY, f64::min);
        let right = part.iter().map(|(at, (x, _))| x + half(*at));
        let right = right.fold(left, f64::max);
        for (at, (x, y)) in part {
            centers[at] = (x - left + from, y);
        }
        from += right - left + APART;
    }
    centers
}

fn column(sizes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut below = 0.0;
    let mut next = |(width, height): &(f64, f64)| {
        let center = (width / 2.0, below + height / 2.0);
        below += height + APART;
        center
    };
    sizes.iter().map(&mut next).collect()
}

fn draw(body: &mut String, picture: &Picture, places: &[Place]) {
    *body += &text(APART / 2.0, LINE, "start", &picture.title);
    let mut labels = String::new();
    for arrow in &picture.arrows {
        let (from, to) = (places[arrow.from], places[arrow.to]);
        let [x0, y0] = [from.x + from.width / 2.0, from.y + from.height];
        let [x1, y1] = [to.x + to.width / 2.0, to.y];
        let bend = ((y1 - y0) / 2.0).max(APART / 2.0);
        *body += &format!(
            "<path d=\"M{x0:.1} {y0:.1}C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {y1:.1}\" fill=\"none\" stroke=\"#0b57c4\" \
             stroke-width=\"{}\" marker-end=\"url(#tip)\"/>\n",
            y0 + bend,
            y1 - bend,
            arrow.width
        );
        let label = arrow.lines.join(" ");
        let along = |part: f64| curve([[x0, y0], [x0, y0 + bend], [x1, y1 - bend], [x1, y1]], part);
        let mut spots = LABELED.iter().map(|part| along(*part));
        let free = spots.find(|[x, y]| {
            let half = text_width(&label) / 2.0;
            let beside = |place: &Place| x + half < place.x || place.x + place.width < x - half;
            let above = |place: &Place| *y < place.y - LINE || place.y + place.height + LINE < *y;
            places.iter().all(|place| beside(place) || above(place))
        });
        let [x, y] = free.unwrap_or_else(|| along(LABELED[0]));
        labels += &text(x, y + LINE / 3.0, "middle", &label);
    }
    for (node, place) in picture.boxes.iter().zip(places) {
        let Place {
            x,
            y,
            width,
            height,
        } = place;
        let (fill, radius) = match node.fill {
            Some(color) => (color, 7.0),
            None => ("white", height / 2.0),
        };
        *body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"#59636e\"/>\n"
        );
        for (number, line) in (1..).zip(&node.lines) {
            let below = y + MARGIN + f64::from(number) * LINE - 3.0;
            *body += &text(x + width / 2.0, below, "middle", line);
        }
    }
    *body += &labels;
}

/// The point of a cubic Bézier curve at the parameter `part`.
fn curve([a, b, c, d]: [[f64; 2]; 4], part: f64) -> [f64; 2] {
    let rest = 1.0 - part;
    [0, 1].map(|axis| {
        rest.powi(3) * a[axis]
            + 3.0 * rest.powi(2) * part * b[axis]
            + 3.0 * rest * part.powi(2) * c[axis]
            + part.powi(3) * d[axis]
    })
}

fn text(x: f64, y: f64, anchor: &str, text: &str) -> String {
    // The white edge keeps text apart from arrows.
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
        escaped(text)
    )
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text with markup characters escaped and characters that XML forbids replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '\t' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn segment(name: &str) -> Value {
        json!({ "name": name, "label": "exp_0", "kind": "kernel", "ops": ["%a"], "read_bytes": 4, "write_bytes": 4, "values": [] })
    }

    /// The numbers of an attribute of all elements of a kind.
    fn numbers(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
        let own = svg.lines().filter(|line| line.starts_with(element));
        let value = |line: &str| {
            let (_, rest) = line.split_once(&format!(" {attribute}=\""))?;
            rest.split_once('"')?.0.parse().ok()
        };
        own.filter_map(value).collect()
    }

    #[test]
    fn users_stand_below_producers_and_no_two_boxes_overlap() {
        let names: Vec<String> = (0..12).map(|i| format!("s{i}")).collect();
        let segments: Vec<Value> = names.iter().map(|name| segment(name)).collect();
        let crossing = |from: usize, to: usize| json!({ "value": "%a", "from": names[from], "to": names[to], "bytes": 4096 });
        let crossings: Vec<Value> = (1..12).map(|i| crossing(i / 2, i)).collect();
        let svg = svg(&json!({ "program": "f", "segments": segments, "crossing": crossings }));
        let [x, y, width, height] =
            ["x", "y", "width", "height"].map(|name| numbers(&svg, "<rect x", name));
        assert_eq!(x.len(), 12);
        for i in 0..12 {
            assert!(i == 0 || y[i] >= y[i / 2] + height[i / 2], "s{i}");
            for j in 0..i {
                let beside = x[i] >= x[j] + width[j] || x[j] >= x[i] + width[i];
                let below = y[i] >= y[j] + height[j] || y[j] >= y[i] + height[i];
                assert!(beside || below, "s{i} and s{j}");
            }
        }
        assert_eq!(svg.matches("marker-end").count(), 11);
    }
    #[test]
    fn parts_and_programs_stand_apart() {
        let report =
            json!({ "program": "f", "segments": [segment("s0"), segment("s1")], "crossing": [] });
        let svg = svg(&json!([report, report]));
        assert_eq!(svg.matches("<g transform").count(), 2);
        let x = numbers(&svg, "<rect x", "x");
        assert_ne!(x[0], x[1]);
    }
    #[test]
    fn no_text_is_markup() {
        let hostile = "</text><script>\u{1}&\"";
        let svg =
            svg(&json!({ "program": hostile, "segments": [segment(hostile)], "crossing": [] }));
        assert!(!svg.contains("<script") && !svg.contains('\u{1}'), "{svg}");
        assert_eq!(
            svg.matches("&lt;/text&gt;&lt;script&gt;\u{fffd}&amp;\"")
                .count(),
            2
        );
    }
    #[test]
    fn many_boxes_are_one_column() {
        let segments: Vec<Value> = (0..=LAID_OUT).map(|i| segment(&format!("s{i}"))).collect();
        let svg = svg(&json!({ "program": "f", "segments": segments, "crossing": [] }));
        let y = numbers(&svg, "<rect x", "y");
        assert!(y.is_sorted() && y.len() == LAID_OUT + 1);
        assert!(
            super::svg(&json!({ "program": "f", "segments": [], "crossing": [] }))
                .ends_with("</svg>\n")
        );
    }
}
