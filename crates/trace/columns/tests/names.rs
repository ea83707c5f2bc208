//! Names are read whichever way a writer holds them.

use kizami_columns::{Names, TableError, TableReader};
use kizami_rng::SplitMix64;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// How a writer is configured.
type Way = fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder;

const KNOWN: [&str; 3] = ["send", "receive", "wait"];

/// A file with one column, in which rows may have no name.
fn write(path: &Path, rows: &[Option<&str>], nullable: bool, properties: WriterPropertiesBuilder) {
    let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let column = Type::primitive_type_builder("op", Physical::BYTE_ARRAY).with_repetition(repetition);
    let column = column.with_logical_type(Some(LogicalType::String)).build().unwrap();
    let schema = Type::group_type_builder("schema").with_fields(vec![Arc::new(column)]).build().unwrap();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<ByteArray> = rows.iter().flatten().map(|name| ByteArray::from(*name)).collect();
    let levels: Vec<i16> = rows.iter().map(|name| i16::from(name.is_some())).collect();
    let levels = nullable.then_some(&levels[..]);
    column.typed::<ByteArrayType>().write_batch(&values, levels, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn read(path: &Path, missing: Option<u8>) -> Result<Vec<u8>, TableError> {
    let meaning = |name: &[u8]| {
        let known = KNOWN.iter().position(|known| known.as_bytes() == name);
        known.map(|place| place as u8).ok_or_else(|| "an unknown name".to_owned())
    };
    TableReader::open(path)?.names(0, "op", &Names { missing, meaning })
}

#[test]
fn whichever_way_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.parquet");
    // Runs, changes, and gaps, over several pages.
    let name = |row: usize| match row % 977 {
        0..400 => Some(KNOWN[row / 977 % 3]),
        400..900 => Some(KNOWN[row * 7 % 3]),
        _ => None,
    };
    let some: Vec<Option<&str>> = (0..50_000).map(name).collect();
    let all: Vec<Option<&str>> = some.iter().map(|name| name.or(Some("wait"))).collect();
    let number = |name: &Option<&str>| {
        name.map_or(9, |name| KNOWN.iter().position(|known| *known == name).unwrap() as u8)
    };
    let small_pages = || WriterProperties::builder().set_data_page_row_count_limit(1_000);
    let ways: [(&str, Way); 4] = [
        ("as usual", |properties| properties),
        ("pages of version 2", |properties| properties.set_writer_version(WriterVersion::PARQUET_2_0)),
        ("no dictionary", |properties| properties.set_dictionary_enabled(false)),
        ("a dictionary that overflows", |properties| properties.set_dictionary_page_size_limit(1)),
    ];
    for (what, way) in ways {
        for (rows, nullable) in [(&some, true), (&all, true), (&all, false)] {
            write(&path, rows, nullable, way(small_pages()));
            let right: Vec<u8> = rows.iter().map(number).collect();
            assert_eq!(read(&path, Some(9)).unwrap(), right, "{what}, nulls allowed: {nullable}");
        }
        write(&path, &some, true, way(small_pages()));
        let error = read(&path, None).unwrap_err().to_string();
        assert!(error.contains("its column \"op\" has nulls"), "{what}: {error}");
        write(&path, &[Some("send"), Some("shout")], true, way(small_pages()));
        let error = read(&path, None).unwrap_err().to_string();
        assert!(error.contains("its column \"op\" has an unknown name"), "{what}: {error}");
    }
}

#[test]
fn damage_anywhere_is_an_error_or_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.parquet");
    let rows: Vec<Option<&str>> = (0..300).map(|row| (row % 7 > 0).then_some(KNOWN[row * 5 % 3])).collect();
    // The decoder's own panics become errors; there is no need to see them.
    std::panic::set_hook(Box::new(|_| {}));
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        write(&path, &rows, true, WriterProperties::builder().set_writer_version(version));
        let whole = std::fs::read(&path).unwrap();
        let mut random = SplitMix64::new(1);
        let mut below = |limit| random.index(limit);
        let mut read_as_before = 0;
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + below(3) {
                let place = below(bytes.len());
                bytes[place] = if below(2) == 0 { below(256) as u8 } else { bytes[place] ^ 1 << below(8) };
            }
            if below(20) == 0 {
                bytes.truncate(below(bytes.len()));
            }
            let meaning = |name: &[u8]| Ok::<usize, String>(name.len());
            let Ok(table) = TableReader::in_memory(bytes.into(), &path) else { continue };
            for group in 0..table.groups().len() {
                let names = table.names(group, "op", &Names { missing: Some(0), meaning });
                read_as_before += usize::from(names.is_ok_and(|names| names.len() == rows.len()));
            }
        }
        assert!(read_as_before > 100, "{read_as_before}: not all damage is seen, and none crashes");
    }
}

#[test]
fn a_name_that_is_stored_once_is_not_copied_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.parquet");
    let name = "f".repeat(1_000);
    let read = |rows: usize| {
        write(&path, &vec![Some(&*name); rows], true, WriterProperties::builder());
        TableReader::open(&path).unwrap().text("op")
    };
    assert_eq!(read(10_000).unwrap().len(), 10_000);
    let refused = read(300_000).unwrap_err().to_string();
    assert!(refused.contains("more text than its file can hold"), "{refused}");
}
