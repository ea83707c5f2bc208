//! Ranks as people write them: `0-63`, `1,5,9`.

/// The ranks that are meant, each once, of a run of so many.
pub fn parse(text: &str, ranks: u32) -> Result<Vec<u32>, String> {
    let wrong = || format!("--ranks {text}: cannot parse; write ranks as 0-63 or 1,5,9");
    let mut wanted = vec![false; ranks as usize];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last >= ranks {
            return Err(format!("--ranks {text}: the run has ranks 0 to {}", ranks.saturating_sub(1)));
        }
        (first..=last).for_each(|rank| wanted[rank as usize] = true);
    }
    Ok((0..ranks).filter(|rank| wanted[*rank as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_understood() {
        assert_eq!(parse("0-2,7,1", 8), Ok(vec![0, 1, 2, 7]));
        for wrong in ["", "a", "3-1", "8", "0-99999999999", "1,,2"] {
            assert!(parse(wrong, 8).is_err(), "{wrong}");
        }
    }
}
