//! Pictures show what the rows say, to the pixel, and whatever a trace holds there is a picture of it.

mod common;

use common::{rows, script, stencil};
use kizami_model::{Moment, Op};
use kizami_testing::Act::{Compute, Receive, Send, Together};
use kizami_view::index::Index;
use kizami_view::index::category::Category;
use kizami_view::layer::{LayerKind, Opened};
use kizami_view::look::LOOKS;
use kizami_view::picture::{Caption, Size, Theme, png};
use kizami_view::query::Selection;
use std::sync::Arc;
use tempfile::TempDir;

const CAPTION: Caption<'_> = Caption { program: "program", trace: "run.kz", kind: LayerKind::Recorded };
const SIZE: Size = Size { width: 1_000, height: 600 };
const BACKGROUND: [u8; 3] = [255; 3];
const AXIS: [u8; 3] = [0xaa, 0xb4, 0xbd];

/// A picture that was read again.
#[derive(Clone, PartialEq)]
struct Picture {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Picture {
    fn of(file: &[u8]) -> Picture {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        Picture { width: frame.width as usize, height: frame.height as usize, bytes }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let first = (y * self.width + x) * 3;
        std::array::from_fn(|channel| self.bytes[first + channel])
    }

    /// Where the time axis begins and ends, and in which line it is.
    fn axis(&self) -> (std::ops::Range<usize>, usize) {
        let line = |y: &usize| (0..self.width).filter(|x| self.at(*x, *y) == AXIS).count();
        let y = (0..self.height).max_by_key(|y| (line(y), std::cmp::Reverse(*y))).unwrap();
        let first = (0..self.width).find(|x| self.at(*x, y) == AXIS).unwrap();
        (first..first + line(&y), y)
    }

    /// The lines of each row, the first rank first.
    fn rows(&self, ranks: usize) -> Vec<std::ops::Range<usize>> {
        let (across, axis) = self.axis();
        let drawn = |y: usize| self.at(across.start + 3, y) != BACKGROUND;
        let mut rows = Vec::new();
        let mut y = axis;
        for _ in 0..ranks {
            let end = (0..y).rev().find(|y| drawn(*y)).unwrap() + 1;
            y = (0..end).rev().find(|y| !drawn(*y)).unwrap() + 1;
            rows.insert(0, y..end);
        }
        rows
    }
}

fn colour(category: Category) -> [u8; 3] {
    let number = u32::from_str_radix(&LOOKS[category as usize].colour[1..], 16).unwrap();
    [(number >> 16) as u8, (number >> 8) as u8, number as u8]
}

fn drawn(index: &Index, selection: &Selection, caption: Caption<'_>, size: Size) -> Picture {
    Picture::of(&png(index, selection, caption, size, &Theme::light()).unwrap())
}

/// Rank 1 waits in `MPI_Recv` for rank 0, which computes.
fn late_sender() -> (TempDir, Arc<Opened>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.kz");
    script(
        &path,
        vec![
            vec![Together("MPI_Barrier"), Compute(400_000), Send(1, 0, 64), Together("MPI_Barrier")],
            vec![Together("MPI_Barrier"), Receive(0, 0), Together("MPI_Barrier")],
        ],
    );
    (folder, Opened::open(&path).unwrap())
}

#[test]
fn a_call_is_where_it_was_to_the_pixel() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let all = Selection::all(&index);
    let picture = drawn(&index, &all, CAPTION, SIZE);
    let (across, _) = picture.axis();
    let lines = picture.rows(2);
    let recv =
        rows(&opened.trace).into_iter().find(|row| row.op == Op::by_name("MPI_Recv").unwrap()).unwrap();
    let x = |ns: i64| {
        let part = (ns - all.from.0) as f64 / all.length().0 as f64;
        across.start + (part * across.len() as f64).round() as usize
    };
    let (begin, end) = (x(recv.start.0), x(recv.end.0));
    assert!(end - begin > across.len() / 2);
    // Above the name, which is in the middle.
    let [upper, lower] = [lines[1].start, lines[1].end - 1];
    let receiving = colour(Category::Receive);
    for y in [upper, lower] {
        assert!((begin + 1..end).all(|x| picture.at(x, y) == receiving));
        assert_ne!(picture.at(begin - 2, y), receiving);
        assert_ne!(picture.at(end + 1, y), receiving);
    }
    // Meanwhile the other rank computed.
    let middle = (begin + end) / 2;
    assert!(lines[0].clone().all(|y| picture.at(middle, y) == colour(Category::Compute)));
    // The name is there.
    let name = (begin..end).flat_map(|x| lines[1].clone().map(move |y| (x, y)));
    assert!(name.filter(|(x, y)| picture.at(*x, *y)[2] > 128).count() > 10);
}

#[test]
fn few_ranks_make_a_lower_picture_and_none_is_higher_than_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (_, trace) = stencil(&folder.path().join("run.kz"), 100, 3);
    let index = Index::build(&trace, &|_| {}).unwrap();
    let mut last = 0;
    for ranks in [1, 4, 12] {
        let some = Selection { ranks: (0..ranks).collect(), ..Selection::all(&index) };
        let picture = drawn(&index, &some, CAPTION, SIZE);
        assert_eq!(picture.width, SIZE.width);
        assert!(picture.height <= SIZE.height && picture.height > last, "{ranks}: {}", picture.height);
        last = picture.height;
    }
    for size in [Size::SMALLEST, Size { width: 640, height: 300 }, Size { width: 4_000, height: 1_000 }] {
        let picture = drawn(&index, &Selection::all(&index), CAPTION, size);
        assert_eq!(picture.width, size.width);
        assert!(picture.height <= size.height, "{} of {}", picture.height, size.height);
    }
}

#[test]
fn names_change_nothing_but_the_title() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let all = Selection::all(&index);
    let plain = drawn(&index, &all, CAPTION, SIZE);
    let first = plain.rows(2)[0].start;
    let below = |picture: &Picture| picture.bytes[first * picture.width * 3..].to_vec();
    let huge = "<script>\u{1b}]0;x\u{7}\u{202e}刻".repeat(1 << 19);
    for name in ["", "<script>alert(1)</script>", "\u{1b}[31m\n\0", &huge] {
        let named = drawn(&index, &all, Caption { program: name, trace: name, ..CAPTION }, SIZE);
        assert_eq!((named.width, named.height), (plain.width, plain.height));
        assert!(below(&named) == below(&plain), "{:?}", name.chars().take(30).collect::<String>());
        // Nothing runs over the edge.
        let margin = |x: usize| (0..first).all(|y| named.at(x, y) == BACKGROUND);
        assert!(margin(0) && margin(named.width - 1));
    }
    assert!(drawn(&index, &all, CAPTION, SIZE) == plain, "the same picture again");
    let corrected = drawn(&index, &all, Caption { kind: LayerKind::Undisturbed, ..CAPTION }, SIZE);
    assert!(corrected != plain, "the title says how times came to be");
}

#[test]
fn parts_beyond_the_run_are_hatched() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let end_ns = index.end_ns();
    let beyond =
        Selection { from: Moment(end_ns + 10), to: Moment(end_ns + 1_000_000), ..Selection::all(&index) };
    let picture = drawn(&index, &beyond, CAPTION, SIZE);
    let (across, _) = picture.axis();
    for line in picture.rows(2) {
        let both = [colour(Category::NoRecord), [0xd9, 0xde, 0xe3]];
        let pixels = across.clone().flat_map(|x| line.clone().map(move |y| (x, y)));
        let hatched = pixels.clone().filter(|(x, y)| picture.at(*x, *y) == both[1]).count();
        assert!(pixels.clone().all(|(x, y)| both.contains(&picture.at(x, y))));
        assert!((hatched * 4).abs_diff(pixels.count()) < 4 * across.len(), "{hatched}");
    }
}

#[test]
fn there_is_a_picture_of_every_run() {
    let folder = tempfile::tempdir().unwrap();
    for (name, acts) in [
        ("one_call.kz", vec![vec![Together("MPI_Barrier")]]),
        ("no_call.kz", vec![vec![Compute(5)]]),
        ("no_calls.kz", vec![vec![Compute(5)], vec![Compute(7)]]),
    ] {
        let path = folder.path().join(name);
        let ranks = acts.len();
        script(&path, acts);
        let index = Opened::open(&path).unwrap().index_now().unwrap();
        let picture = drawn(&index, &Selection::all(&index), CAPTION, SIZE);
        assert_eq!(picture.rows(ranks).len(), ranks, "{name}");
        let nobody = Selection { ranks: Vec::new(), ..Selection::all(&index) };
        let empty = drawn(&index, &nobody, CAPTION, SIZE);
        assert!(empty.height < picture.height + 20, "{name}");
    }
}

#[test]
fn dark_pictures_are_dark() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let file = png(&index, &Selection::all(&index), CAPTION, SIZE, &Theme::dark()).unwrap();
    let picture = Picture::of(&file);
    assert_eq!(picture.at(0, 0), [0x14, 0x19, 0x1e]);
    let light = picture.bytes.iter().filter(|byte| **byte > 200).count();
    assert!(light * 5 < picture.bytes.len());
}
