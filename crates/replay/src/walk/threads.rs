//! Shares walked by threads of this process.

use super::exchange::{Exchange, RemoteEvent, Round, Standing};
use crate::meeting::Seat;

impl<const LANES: usize> Exchange<LANES> for Seat<'_, Standing, RemoteEvent<LANES>> {
    fn end_round(
        &mut self,
        standing: Standing,
        outgoing: &mut [Vec<RemoteEvent<LANES>>],
    ) -> Option<Round<LANES>> {
        let (all, incoming) = Seat::end_round(self, standing, outgoing)?;
        let all = all.into_iter().reduce(Standing::and)?;
        Some(Round { all, incoming })
    }
}
