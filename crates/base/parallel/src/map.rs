//! Something done with each item of a list, by several threads.

/// Does `work` with each item at the same time, on a thread for each; the first on the caller's. Results are in the order of
/// the items.
pub fn map<T: Send, R: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let mut items = items.into_iter();
    let Some(first) = items.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        let mut done = vec![work(first)];
        let joined = others.into_iter().map(|other| other.join());
        done.extend(joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
        done
    })
}

/// Does two things, at the same time if there are threads for that; the second on the caller's.
pub fn join<A: Send, B>(threads: usize, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if threads < 2 {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

/// Does `work` with each item on so many threads, which take items in turns.
pub fn map_in_turns<T: Send, R: Send>(items: Vec<T>, threads: usize, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let turns = threads.clamp(1, items.len().max(1));
    let mut hands: Vec<Vec<(usize, T)>> = (0..turns).map(|_| Vec::new()).collect();
    items.into_iter().enumerate().for_each(|(index, item)| hands[index % turns].push((index, item)));
    let done = map(hands, |hand| -> Vec<(usize, R)> {
        hand.into_iter().map(|(index, item)| (index, work(item))).collect()
    });
    let mut done: Vec<(usize, R)> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_items() {
        assert_eq!(map(0..5, |item| item * item), [0, 1, 4, 9, 16]);
        assert_eq!(map(Vec::<u32>::new(), |item| item), []);
        for threads in [0, 1, 2, 3, 9] {
            let doubled: Vec<u32> = (0..7).map(|item| 2 * item).collect();
            assert_eq!(map_in_turns((0..7).collect(), threads, |item: u32| 2 * item), doubled);
        }
    }

    #[test]
    fn a_panic_goes_on_in_the_caller() {
        let outcome = std::panic::catch_unwind(|| map(0..3, |item| assert_ne!(item, 2, "the third fails")));
        assert!(outcome.is_err());
    }
}
