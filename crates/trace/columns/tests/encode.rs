//! Columns encoded at once are what the parquet crate's reader reads.

use kizami_columns::encode::{Chunk, ChunkEncoder, Packing};
use kizami_columns::{Field, Kind, schema};
use parquet::basic::Encoding;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use std::sync::Arc;

/// Around the sizes of groups of eight, blocks and pages.
const ROWS: [usize; 9] = [1, 7, 8, 64, 65, 257, 1_000, 65_536, 140_001];

/// One column as it was read back.
struct Back<T: DataType> {
    values: Vec<T::T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    file: SerializedFileReader<bytes::Bytes>,
}

/// Writes a file of one column and reads it.
fn there_and_back<T: DataType>(
    kind: Kind,
    nullable: bool,
    encode: impl FnOnce(&mut ChunkEncoder, &ColumnDescPtr) -> Chunk,
) -> Back<T> {
    let schema = schema(&[Field { name: "column", kind, nullable }]).unwrap();
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let column = writer.schema_descr().column(0);
    let chunk = encode(&mut ChunkEncoder::new().unwrap(), &column);
    let mut group = writer.next_row_group().unwrap();
    group.append_column(&chunk.bytes, chunk.close.clone()).unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader =
        get_typed_column_reader::<T>(file.get_row_group(0).unwrap().get_column_reader(0).unwrap());
    let levels = (column.max_def_level() > 0, column.max_rep_level() > 0);
    reader
        .read_records(
            usize::MAX,
            levels.0.then_some(&mut definition),
            levels.1.then_some(&mut repetition),
            &mut values,
        )
        .unwrap();
    Back { values, definition, repetition, file }
}

/// Numbers of all sorts: by `sort`, the same, few, steps, anything, and the ends of what there is.
fn number(sort: usize, index: usize) -> i64 {
    let scattered = (index as i64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
    match sort {
        0 => 7,
        1 => (scattered >> 33) % 5,
        2 => 1_000_000_000_000 + 37 * index as i64 + (scattered >> 40) % 20,
        3 => scattered,
        4 => [i64::MIN + 1, i64::MAX, 0, -1][index % 4],
        // Runs of many lengths.
        _ => (index as i64 / 300) % 3,
    }
}

fn packings() -> [Packing; 2] {
    [Packing::Differences, Packing::Repeats]
}

#[test]
fn numbers_survive_a_round_trip() {
    for (sort, rows) in (0..6).flat_map(|sort| ROWS.map(|rows| (sort, rows))) {
        let wide: Vec<i64> = (0..rows).map(|row| number(sort, row)).collect();
        let narrow: Vec<i32> = wide.iter().map(|value| *value as i32).collect();
        for packing in packings() {
            let back = there_and_back::<Int64Type>(Kind::Int64, false, |encoder, column| {
                encoder.required(column, &wide, packing).unwrap()
            });
            assert!(back.values == wide, "{sort} {rows} {packing:?}");
            let back = there_and_back::<Int32Type>(Kind::Int32, false, |encoder, column| {
                encoder.required(column, &narrow, packing).unwrap()
            });
            assert!(back.values == narrow, "{sort} {rows} {packing:?}");
        }
    }
}

#[test]
fn ranges_are_stored() {
    let cells: Vec<i32> = (0..70_000).map(|row| number(1, row) as i32 - 2).collect();
    let back = there_and_back::<Int32Type>(Kind::Int32, false, |encoder, column| {
        encoder.with_range(column, &cells).unwrap()
    });
    assert!(back.values == cells);
    let Some(Statistics::Int32(range)) = back.file.metadata().row_group(0).column(0).statistics() else {
        panic!("no range");
    };
    assert_eq!((range.min_opt(), range.max_opt()), (cells.iter().min(), cells.iter().max()));
}

#[test]
fn missing_numbers_stay_missing() {
    const NULL: i64 = i64::MIN;
    for (sort, rows) in (0..6).flat_map(|sort| ROWS.map(|rows| (sort, rows))) {
        for nulls in 0..4 {
            let missing = |row: usize| match nulls {
                0 => false,
                1 => true,
                2 => row % 5 == 4,
                _ => (row / 1_000).is_multiple_of(2),
            };
            let cells: Vec<i64> =
                (0..rows).map(|row| if missing(row) { NULL } else { number(sort, row) }).collect();
            let there: Vec<i64> = cells.iter().copied().filter(|cell| *cell != NULL).collect();
            for packing in packings() {
                let back = there_and_back::<Int64Type>(Kind::Int64, true, |encoder, column| {
                    encoder.optional(column, &cells, NULL, packing).unwrap()
                });
                assert!(back.values == there, "{sort} {rows} {nulls} {packing:?}");
                assert!(back.definition.iter().zip(&cells).all(|(is, cell)| (*is == 1) == (*cell != NULL)));
                assert_eq!(back.definition.len(), rows);
            }
        }
    }
}

#[test]
fn lists_of_all_lengths_survive_a_round_trip() {
    for (lengths, rows) in (0..4).flat_map(|lengths| ROWS.map(|rows| (lengths, rows))) {
        let length = |row: usize| match lengths {
            0 => 0,
            1 => row % 3,
            2 => [0, 0, 0, 0, 4][row % 5],
            _ => [0, 1, 200, 63, 64][row % 5],
        };
        let mut end = 0;
        let ends: Vec<usize> = (0..rows).map(|row| (end += length(row), end).1).collect();
        let values: Vec<i64> = (0..end).map(|index| number(2, index)).collect();
        let back = there_and_back::<Int64Type>(Kind::Int64List, false, |encoder, column| {
            encoder.lists(column, &values, &ends, Packing::Differences).unwrap()
        });
        assert!(back.values == values, "{lengths} {rows}");
        let mut read = Vec::new();
        for (there, again) in back.definition.iter().zip(&back.repetition) {
            if *again == 0 {
                read.push(0);
            }
            *read.last_mut().unwrap() += usize::from(*there == 1);
        }
        assert!(read.into_iter().eq((0..rows).map(length)), "{lengths} {rows}");
    }
}

#[test]
fn flags_fractions_and_names_survive_a_round_trip() {
    for rows in ROWS {
        let flags: Vec<bool> = (0..rows).map(|row| number(1, row) > 1).collect();
        let back = there_and_back::<BoolType>(Kind::Bool, false, |encoder, column| {
            encoder.flags(column, &flags).unwrap()
        });
        assert!(back.values == flags);
        let fractions: Vec<f64> = (0..rows).map(|row| 1.0 / (row + 1) as f64).collect();
        let back = there_and_back::<DoubleType>(Kind::Double, false, |encoder, column| {
            encoder.fractions(column, &fractions).unwrap()
        });
        assert!(back.values == fractions);
        let name = |number: i64| ["Irecv", "", "Waitall", "Isend", "Barrier"][number.unsigned_abs() as usize];
        let numbers = || (0..rows).map(|row| number(1, row).abs());
        let back = there_and_back::<ByteArrayType>(Kind::Text, false, |encoder, column| {
            encoder.names(column, numbers(), name).unwrap()
        });
        assert!(back.values.iter().map(|value| value.as_utf8().unwrap()).eq(numbers().map(name)));
    }
}

/// A dictionary of nearly as many values as there are rows would only cost.
#[test]
fn too_many_different_numbers_are_stored_plainly() {
    let cells: Vec<i64> = (0..140_001).map(|row| number(3, row)).collect();
    let back = there_and_back::<Int64Type>(Kind::Int64, false, |encoder, column| {
        encoder.required(column, &cells, Packing::Repeats).unwrap()
    });
    let group = back.file.metadata().row_group(0);
    let encodings: Vec<Encoding> = group.column(0).encodings().collect();
    assert!(!encodings.contains(&Encoding::RLE_DICTIONARY), "{encodings:?}");
}
