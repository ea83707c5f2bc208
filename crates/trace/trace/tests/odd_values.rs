//! Values at the edge: moments as people write them, and files that claim more than they have.

use kizami_trace::Calls;
use kizami_trace::run::utc;

#[test]
fn utc_times_are_formatted() {
    assert_eq!(utc(0), "1970-01-01T00:00:00Z");
    assert_eq!(utc(951_827_696_000_000_000), "2000-02-29T12:34:56Z");
    assert_eq!(utc(1_767_225_599_999_999_999), "2025-12-31T23:59:59Z");
}

/// What is said of a file of nothing but a footer.
fn said_of(footer: &[u8]) -> String {
    let length = (footer.len() as u32).to_le_bytes();
    let file = [b"PAR1", footer, &length, b"PAR1"].concat();
    let mut calls = Calls::in_memory(file);
    calls.next_batch().expect_err("there is nothing to read").to_string()
}

#[test]
fn a_group_of_more_columns_than_there_are_is_refused() {
    // Field 2, a list of one structure, whose field 5 is a number: 1,000,000,000 children.
    let forged = [0x29, 0x1c, 0x55, 0x80, 0xa8, 0xd6, 0xb9, 0x07, 0x00, 0x00];
    assert!(said_of(&forged).contains("a group of 1000000000 columns"), "{}", said_of(&forged));
    let honest = [0x29, 0x1c, 0x55, 0x02, 0x00, 0x00];
    assert!(!said_of(&honest).contains("a group of"), "{}", said_of(&honest));
}
