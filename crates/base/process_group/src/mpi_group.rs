//! The processes of a command that an MPI launcher has started.
//!
//! [`MpiGroup::join`] finds by the environment whether there are several (`launched`), loads the launcher's MPI and starts
//! it. From then on processes [exchange](MpiGroup::collective) messages collectively, one to each of the others or one to all,
//! and [point to point](MpiGroup::exchange) what they have announced there. A process that fails takes part in the next
//! collective with the reason instead, whatever the others take part with, and all of them receive that.
//!
//! It promises that messages arrive whole and in the order of processes, that all processes learn of a failure in the same
//! collective, and that what is too large for MPI is an error, never a truncated message.

use crate::error::MpiGroupError;
use crate::launched;
use kizami_mpi::{Collective, Comm, Counts, Incoming, Mpi, Outgoing};

/// Bytes of the notice that each process sends all others first. A message to all follows its head if it is that short.
const NOTICE_BYTES: usize = 256;
const HEAD_BYTES: usize = size_of::<u64>();
const SHORT_BYTES: usize = NOTICE_BYTES - HEAD_BYTES;
/// Of messages sent point to point.
const TAG: i32 = 1;
/// Above these bits of the length of the message to all, a head has the kind of contribution.
const LENGTH_BITS: u32 = 61;

/// What a process takes part in a collective with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contribution {
    /// A message to each process, itself among them, in their order.
    ToEach(Vec<Vec<u8>>),
    /// A message to all.
    ToAll(Vec<u8>),
    /// Nothing, for the last time.
    Done,
    /// The reason why it has failed, for the last time.
    Failed(Vec<u8>),
}

/// What a process receives in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A message from each process, itself among them, in their order.
    Messages(Vec<Vec<u8>>),
    /// The first that has failed, and why. No collective may follow.
    Failure(usize, Vec<u8>),
}

/// The launched processes, of which this is one. Used by the thread that has joined.
#[derive(Debug)]
pub struct MpiGroup {
    mpi: Mpi,
    world: Comm,
    /// Processes on this host.
    size_on_host: usize,
}

impl MpiGroup {
    /// Joins the others. None if no launcher has started this process, or it has started no other. All processes must
    /// call it.
    pub fn join() -> Result<Option<MpiGroup>, MpiGroupError> {
        let Some(launched) = launched::processes() else { return Ok(None) };
        let mpi = Mpi::load()?;
        let world = mpi.init_beside_threads()?;
        if world.size() != launched {
            let (path, size) = (mpi.path().to_owned(), world.size());
            return Err(MpiGroupError::OtherLauncher { path, size, launched });
        }
        let mut group = MpiGroup { mpi, world, size_on_host: 1 };
        let host = group.mpi.processor_name()?;
        if let Received::Messages(hosts) = group.collective(Contribution::ToAll(host.clone().into_bytes()))? {
            group.size_on_host = hosts.iter().filter(|other| **other == host.as_bytes()).count();
        }
        Ok(Some(group))
    }

    /// The number of this process, from 0.
    pub fn index(&self) -> usize {
        self.world.rank() as usize
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// How many of them run on this host; at least one.
    pub fn size_on_host(&self) -> usize {
        self.size_on_host
    }

    /// Exchanges messages with all processes, which must take part; those that have not failed with contributions of the same
    /// kind.
    pub fn collective(&self, contribution: Contribution) -> Result<Received, MpiGroupError> {
        let mut get = vec![0; self.size() * NOTICE_BYTES];
        self.mpi.call(&self.world, Collective::Allgather { give: &contribution.notice(), get: &mut get })?;
        let notices: Vec<Notice<'_>> = get.chunks_exact(NOTICE_BYTES).map(Notice::read).collect();
        if let Some(first) = notices.iter().position(|notice| notice.kind == FAILED) {
            let own = if let Contribution::Failed(words) = contribution { words } else { Vec::new() };
            let length = |notice: &Notice<'_>| if notice.kind == FAILED { notice.length } else { 0 };
            let mut words = self.gather(&own, &notices.iter().map(length).collect::<Vec<_>>())?;
            return Ok(Received::Failure(first, words.swap_remove(first)));
        }
        if notices.iter().any(|notice| notice.kind != contribution.kind()) {
            return Err(MpiGroupError::OutOfStep);
        }
        Ok(Received::Messages(match contribution {
            Contribution::ToEach(messages) => self.all_to_all(&messages)?,
            Contribution::ToAll(_) if notices.iter().all(|notice| notice.length <= SHORT_BYTES) => {
                notices.iter().map(|notice| notice.short[..notice.length].to_vec()).collect()
            }
            Contribution::ToAll(message) => {
                let lengths: Vec<usize> = notices.iter().map(|notice| notice.length).collect();
                self.gather(&message, &lengths)?
            }
            Contribution::Done | Contribution::Failed(_) => Vec::new(),
        }))
    }

    fn all_to_all(&self, messages: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, MpiGroupError> {
        let lengths: Vec<usize> = messages.iter().map(Vec::len).collect();
        let give: Vec<u8> = lengths.iter().flat_map(|length| (*length as u64).to_le_bytes()).collect();
        let mut get = vec![0; give.len()];
        self.mpi.call(&self.world, Collective::Alltoall { give: &give, get: &mut get })?;
        let length = |bytes: &[u8]| usize::try_from(number(bytes)).unwrap_or(usize::MAX);
        let gets = counts(&get.chunks_exact(size_of::<u64>()).map(length).collect::<Vec<_>>())?;
        let gives = counts(&lengths)?;
        let (give, mut get) = (messages.concat(), vec![0; gets.total()]);
        let call = Collective::Alltoallv { give: &give, gives: &gives, get: &mut get, gets: &gets };
        self.mpi.call(&self.world, call)?;
        Ok(gets.parts(&get))
    }

    fn gather(&self, message: &[u8], lengths: &[usize]) -> Result<Vec<Vec<u8>>, MpiGroupError> {
        let counts = counts(lengths)?;
        let mut get = vec![0; counts.total()];
        let call = Collective::Allgatherv { give: message, get: &mut get, counts: &counts };
        self.mpi.call(&self.world, call)?;
        Ok(counts.parts(&get))
    }

    /// Sends messages to some of the others, and receives those that were announced in a collective, with their senders and
    /// bytes. Not a collective itself: a process that sends and receives nothing does not wait.
    pub fn exchange(
        &self,
        messages: &[(usize, Vec<u8>)],
        from: &[(usize, usize)],
    ) -> Result<Vec<Vec<u8>>, MpiGroupError> {
        let mut got: Vec<Vec<u8>> = from.iter().map(|(_, bytes)| vec![0; *bytes]).collect();
        let mut incoming: Vec<Incoming<'_>> = from
            .iter()
            .zip(&mut got)
            .map(|((from, _), space)| Incoming { space, from: *from as u32 })
            .collect();
        let outgoing: Vec<Outgoing<'_>> =
            messages.iter().map(|(to, data)| Outgoing { data, to: *to as u32 }).collect();
        let mut requests = self.mpi.requests(incoming.len() + outgoing.len());
        self.mpi.exchange(&self.world, &mut incoming, &outgoing, TAG, &mut requests, || {})?;
        Ok(got)
    }

    /// Ends MPI. All processes must call it, after their last exchange.
    pub fn end(&self) -> Result<(), MpiGroupError> {
        Ok(self.mpi.finalize()?)
    }

    /// Ends all processes at once.
    pub fn abort(&self, code: i32) -> ! {
        self.mpi.abort(code)
    }
}

fn counts(lengths: &[usize]) -> Result<Counts, MpiGroupError> {
    Counts::new(lengths).map_err(|_| MpiGroupError::TooLarge)
}

const TO_EACH: u8 = 0;
const TO_ALL: u8 = 1;
const DONE: u8 = 2;
const FAILED: u8 = 3;

/// What a process sends all others first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Notice<'a> {
    kind: u8,
    /// Of the message to all, or of the reason of a failure.
    length: usize,
    /// The message to all, if it is short.
    short: &'a [u8],
}

impl Notice<'_> {
    /// A length that no memory could hold is as good as the largest.
    fn read(bytes: &[u8]) -> Notice<'_> {
        let (head, short) = bytes.split_at(HEAD_BYTES);
        let word = number(head);
        let length = usize::try_from(word & ((1 << LENGTH_BITS) - 1)).unwrap_or(usize::MAX);
        Notice { kind: (word >> LENGTH_BITS) as u8, length, short }
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

impl Contribution {
    fn kind(&self) -> u8 {
        match self {
            Contribution::ToEach(_) => TO_EACH,
            Contribution::ToAll(_) => TO_ALL,
            Contribution::Done => DONE,
            Contribution::Failed(_) => FAILED,
        }
    }

    fn notice(&self) -> [u8; NOTICE_BYTES] {
        let message: &[u8] = match self {
            Contribution::ToAll(message) | Contribution::Failed(message) => message,
            Contribution::ToEach(_) | Contribution::Done => &[],
        };
        let mut notice = [0; NOTICE_BYTES];
        let (head, short) = notice.split_at_mut(HEAD_BYTES);
        head.copy_from_slice(&(u64::from(self.kind()) << LENGTH_BITS | message.len() as u64).to_le_bytes());
        if let Some(slot) = short.get_mut(..message.len()) {
            slot.copy_from_slice(message);
        }
        notice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_have_the_kind_and_the_length() {
        let read = |contribution: &Contribution| {
            let bytes = contribution.notice();
            let Notice { kind, length, short } = Notice::read(&bytes);
            (kind, length, short.get(..length).map(<[u8]>::to_vec))
        };
        assert_eq!(read(&Contribution::ToEach(vec![vec![1; 3], Vec::new()])), (TO_EACH, 0, Some(Vec::new())));
        assert_eq!(read(&Contribution::ToAll(vec![7; 9])), (TO_ALL, 9, Some(vec![7; 9])));
        assert_eq!(
            read(&Contribution::ToAll(vec![7; SHORT_BYTES])),
            (TO_ALL, SHORT_BYTES, Some(vec![7; SHORT_BYTES]))
        );
        assert_eq!(read(&Contribution::ToAll(vec![7; SHORT_BYTES + 1])), (TO_ALL, SHORT_BYTES + 1, None));
        assert_eq!(read(&Contribution::Done), (DONE, 0, Some(Vec::new())));
        assert_eq!(read(&Contribution::Failed(vec![7; 9])), (FAILED, 9, Some(vec![7; 9])));
    }

    #[test]
    fn without_a_launcher_there_is_no_group() {
        // Tests are started by none.
        assert!(matches!(MpiGroup::join(), Ok(None)));
    }
}
