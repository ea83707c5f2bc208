//! The other processes of the same command, if a launcher has started several.
//!
//! [`Peers::join`] tells by the environment whether that is so (`launched`), loads the launcher's MPI and starts it. From
//! then on processes [meet](Peers::meet) with letters: one for each of the others, or one for all; what they have told of
//! there they can [pass](Peers::pass). That is all they know of each other. A process that fails comes to the next meeting
//! with its last words instead, whatever the others come with, and all of them get those.
//!
//! It promises that letters come whole and in the order of processes, that all processes hear of a failure at the same
//! meeting, and that too much for MPI is an error and never a part of it. It does not know what letters say, or who of them
//! prints.

mod error;
mod launched;

pub use error::PeersError;
pub use launched::is_launched;

use kizami_mpi::{Collective, Comm, Counts, Incoming, Mpi, Outgoing};

/// Bytes of the notice that each process gives all others first. Behind its head is the letter for all, if it is that short.
const NOTICE_BYTES: usize = 256;
const HEAD_BYTES: usize = size_of::<u64>();
const SHORT_BYTES: usize = NOTICE_BYTES - HEAD_BYTES;
/// Of letters that are passed.
const TAG: i32 = 1;
/// Above the length of the letter for all, a head has what its sender comes with.
const LENGTH_BITS: u32 = 61;

/// What a process comes to a meeting with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mail {
    /// A letter for each process, itself among them, in their order.
    ToEach(Vec<Vec<u8>>),
    /// A letter for all.
    ToAll(Vec<u8>),
    /// Nothing, and it comes no more.
    Done,
    /// It has failed, and comes no more.
    LastWords(Vec<u8>),
}

/// What a process gets at a meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// A letter from each process, itself among them, in their order.
    Letters(Vec<Vec<u8>>),
    /// The first that has failed, and its last words. Nobody may come any more.
    Failed(usize, Vec<u8>),
}

/// The processes of a command, of which this is one. Used by the thread that has joined.
#[derive(Debug)]
pub struct Peers {
    mpi: Mpi,
    world: Comm,
    /// Processes on this host.
    here: usize,
}

impl Peers {
    /// Meets the others. None if no launcher has started this process, or it has started no other. All processes must
    /// call it.
    pub fn join() -> Result<Option<Peers>, PeersError> {
        let Some(launched) = launched::processes() else { return Ok(None) };
        let mpi = Mpi::load()?;
        let world = mpi.init_beside_threads()?;
        if world.size() != launched {
            let (path, known) = (mpi.path().to_owned(), world.size());
            return Err(PeersError::OtherLauncher { path, known, launched });
        }
        let mut peers = Peers { mpi, world, here: 1 };
        let host = peers.mpi.processor_name()?;
        if let Met::Letters(hosts) = peers.meet(Mail::ToAll(host.clone().into_bytes()))? {
            peers.here = hosts.iter().filter(|other| **other == host.as_bytes()).count();
        }
        Ok(Some(peers))
    }

    /// The number of this process, from 0.
    pub fn own(&self) -> usize {
        self.world.rank() as usize
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.world.size() as usize
    }

    /// How many of them run on this host; at least one.
    pub fn here(&self) -> usize {
        self.here
    }

    /// Meets the others: all processes must come, and wait for each other. Those that have not failed must come with mail
    /// of the same kind.
    pub fn meet(&self, mail: Mail) -> Result<Met, PeersError> {
        let mut get = vec![0; self.count() * NOTICE_BYTES];
        self.mpi.call(&self.world, Collective::Allgather { give: &mail.notice(), get: &mut get })?;
        let notices: Vec<Notice<'_>> = get.chunks_exact(NOTICE_BYTES).map(Notice::read).collect();
        if let Some(first) = notices.iter().position(|notice| notice.kind == LAST_WORDS) {
            let own = if let Mail::LastWords(words) = mail { words } else { Vec::new() };
            let length = |notice: &Notice<'_>| if notice.kind == LAST_WORDS { notice.length } else { 0 };
            let mut words = self.gather(&own, &notices.iter().map(length).collect::<Vec<_>>())?;
            return Ok(Met::Failed(first, words.swap_remove(first)));
        }
        if notices.iter().any(|notice| notice.kind != mail.kind()) {
            return Err(PeersError::OutOfStep);
        }
        Ok(Met::Letters(match mail {
            Mail::ToEach(letters) => self.exchange(&letters)?,
            Mail::ToAll(_) if notices.iter().all(|notice| notice.length <= SHORT_BYTES) => {
                notices.iter().map(|notice| notice.short[..notice.length].to_vec()).collect()
            }
            Mail::ToAll(letter) => {
                let lengths: Vec<usize> = notices.iter().map(|notice| notice.length).collect();
                self.gather(&letter, &lengths)?
            }
            Mail::Done | Mail::LastWords(_) => Vec::new(),
        }))
    }

    fn exchange(&self, letters: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, PeersError> {
        let lengths: Vec<usize> = letters.iter().map(Vec::len).collect();
        let give: Vec<u8> = lengths.iter().flat_map(|length| (*length as u64).to_le_bytes()).collect();
        let mut get = vec![0; give.len()];
        self.mpi.call(&self.world, Collective::Alltoall { give: &give, get: &mut get })?;
        let length = |bytes: &[u8]| usize::try_from(number(bytes)).unwrap_or(usize::MAX);
        let gets = counts(&get.chunks_exact(size_of::<u64>()).map(length).collect::<Vec<_>>())?;
        let gives = counts(&lengths)?;
        let (give, mut get) = (letters.concat(), vec![0; gets.total()]);
        let call = Collective::Alltoallv { give: &give, gives: &gives, get: &mut get, gets: &gets };
        self.mpi.call(&self.world, call)?;
        Ok(gets.parts(&get))
    }

    fn gather(&self, letter: &[u8], lengths: &[usize]) -> Result<Vec<Vec<u8>>, PeersError> {
        let counts = counts(lengths)?;
        let mut get = vec![0; counts.total()];
        let call = Collective::Allgatherv { give: letter, get: &mut get, counts: &counts };
        self.mpi.call(&self.world, call)?;
        Ok(counts.parts(&get))
    }

    /// Gives some of the others letters, and gets those that others have for this one: who has written, and how many bytes, was
    /// told at a meeting. There is none here: who has nothing and gets nothing does not wait.
    pub fn pass(
        &self,
        letters: &[(usize, Vec<u8>)],
        from: &[(usize, usize)],
    ) -> Result<Vec<Vec<u8>>, PeersError> {
        let mut got: Vec<Vec<u8>> = from.iter().map(|(_, bytes)| vec![0; *bytes]).collect();
        let mut incoming: Vec<Incoming<'_>> = from
            .iter()
            .zip(&mut got)
            .map(|((from, _), space)| Incoming { space, from: *from as u32 })
            .collect();
        let outgoing: Vec<Outgoing<'_>> =
            letters.iter().map(|(to, data)| Outgoing { data, to: *to as u32 }).collect();
        let mut requests = self.mpi.requests(incoming.len() + outgoing.len());
        self.mpi.exchange(&self.world, &mut incoming, &outgoing, TAG, &mut requests, || {})?;
        Ok(got)
    }

    /// Parts from the others. All processes must call it, as the last thing they do with each other.
    pub fn end(&self) -> Result<(), PeersError> {
        Ok(self.mpi.finalize()?)
    }

    /// Ends all processes at once.
    pub fn abort(&self, code: i32) -> ! {
        self.mpi.abort(code)
    }
}

fn counts(lengths: &[usize]) -> Result<Counts, PeersError> {
    Counts::new(lengths).map_err(|_| PeersError::TooLarge)
}

const TO_EACH: u8 = 0;
const TO_ALL: u8 = 1;
const DONE: u8 = 2;
const LAST_WORDS: u8 = 3;

/// What a process tells all others first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Notice<'a> {
    kind: u8,
    /// Of the letter for all, or of the last words.
    length: usize,
    /// The letter for all, if it is short.
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

impl Mail {
    fn kind(&self) -> u8 {
        match self {
            Mail::ToEach(_) => TO_EACH,
            Mail::ToAll(_) => TO_ALL,
            Mail::Done => DONE,
            Mail::LastWords(_) => LAST_WORDS,
        }
    }

    fn notice(&self) -> [u8; NOTICE_BYTES] {
        let letter: &[u8] = match self {
            Mail::ToAll(letter) | Mail::LastWords(letter) => letter,
            Mail::ToEach(_) | Mail::Done => &[],
        };
        let mut notice = [0; NOTICE_BYTES];
        let (head, short) = notice.split_at_mut(HEAD_BYTES);
        head.copy_from_slice(&(u64::from(self.kind()) << LENGTH_BITS | letter.len() as u64).to_le_bytes());
        if let Some(place) = short.get_mut(..letter.len()) {
            place.copy_from_slice(letter);
        }
        notice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_say_what_comes_and_how_long_it_is() {
        let told = |mail: &Mail| {
            let bytes = mail.notice();
            let Notice { kind, length, short } = Notice::read(&bytes);
            (kind, length, short.get(..length).map(<[u8]>::to_vec))
        };
        assert_eq!(told(&Mail::ToEach(vec![vec![1; 3], Vec::new()])), (TO_EACH, 0, Some(Vec::new())));
        assert_eq!(told(&Mail::ToAll(vec![7; 9])), (TO_ALL, 9, Some(vec![7; 9])));
        assert_eq!(
            told(&Mail::ToAll(vec![7; SHORT_BYTES])),
            (TO_ALL, SHORT_BYTES, Some(vec![7; SHORT_BYTES]))
        );
        assert_eq!(told(&Mail::ToAll(vec![7; SHORT_BYTES + 1])), (TO_ALL, SHORT_BYTES + 1, None));
        assert_eq!(told(&Mail::Done), (DONE, 0, Some(Vec::new())));
        assert_eq!(told(&Mail::LastWords(vec![7; 9])), (LAST_WORDS, 9, Some(vec![7; 9])));
    }

    #[test]
    fn nobody_joins_without_a_launcher() {
        // Tests are started by none.
        assert!(matches!(Peers::join(), Ok(None)));
    }
}
