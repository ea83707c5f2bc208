//! One file of `raw/`: what its header says, and which companions it has.

use crate::snapshot::Frozen;
use kizami_segment::{HEADER_BYTES, HeaderView, SLOT_BYTES, named, slot_words};
use kizami_trace::TraceError;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the names of companions have behind that of their segment.
const SAMPLE_ENDING: &str = ".sample";
const ORDER_ENDING: &str = ".order";
/// The extension of segments with events of a threading runtime.
pub(crate) const TASKS_EXTENSION: &str = "tasks";

/// One segment file with a readable header.
#[derive(Clone, Debug)]
pub(crate) struct SegmentInfo {
    pub path: PathBuf,
    pub bytes: u64,
    pub header: HeaderView,
    /// Start of the first record, in ticks since the segment's base.
    pub first_record_ticks: Option<u64>,
    /// The memory of the reducer, if the thread was reduced while it ran.
    pub sample: Option<PathBuf>,
    /// The memory of the recorder of the order of calls.
    pub order: Option<PathBuf>,
    /// What the segment was at one moment, if it is still being written.
    pub frozen: Option<Arc<Frozen>>,
}

impl SegmentInfo {
    /// Whether the thread was reduced while it ran: its calls are in companions of the segment.
    pub(crate) fn is_reduced(&self) -> bool {
        self.sample.is_some() || self.order.is_some()
    }

    /// Whether it has events of a threading runtime, as words.
    pub(crate) fn is_of_tasks(&self) -> bool {
        is_of_tasks(&self.path)
    }

    /// Moves the file and its companions to another folder of the same file system.
    pub(crate) fn move_to(&self, folder: &Path) -> Result<(), TraceError> {
        let companions = self.sample.iter().chain(&self.order);
        // The segment goes last: as long as it is where it was, so are its companions looked for.
        for path in companions.chain([&self.path]) {
            let to = folder.join(path.file_name().unwrap_or_default());
            std::fs::rename(path, &to).map_err(TraceError::file("move to another recording", path))?;
        }
        Ok(())
    }

    /// The file's own name, for messages.
    pub(crate) fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

fn is_of_tasks(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == TASKS_EXTENSION)
}

/// Reads the header of a segment. The error is a sentence for people.
pub(crate) fn read_header(path: &Path) -> Result<SegmentInfo, String> {
    if path.extension().is_some_and(|extension| extension == named::EXTENSION) {
        return freeze(path);
    }
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let failed = |error: std::io::Error| format!("segment {name} cannot be read: {error}");
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut beginning = Vec::with_capacity(HEADER_BYTES + 2 * SLOT_BYTES);
    file.take((HEADER_BYTES + 2 * SLOT_BYTES) as u64).read_to_end(&mut beginning).map_err(failed)?;
    info(path, &beginning, bytes)
}

/// Reads a segment that is still being written, as it is at this moment. The error is a sentence for people.
pub(crate) fn freeze(path: &Path) -> Result<SegmentInfo, String> {
    let frozen = Frozen::of(path).map_err(|error| {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        format!("segment {name} cannot be read: {error}")
    })?;
    let info = info(path, frozen.front(), frozen.bytes())?;
    Ok(SegmentInfo { frozen: Some(Arc::new(frozen)), ..info })
}

/// What the first bytes of a segment say of it.
fn info(path: &Path, beginning: &[u8], bytes: u64) -> Result<SegmentInfo, String> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let header = HeaderView::read(beginning).map_err(|error| format!("segment {name}: {error}"))?;
    let first_slot = beginning.get(HEADER_BYTES + SLOT_BYTES..).and_then(|rest| slot_words(rest, 0));
    let first_record_ticks = first_slot
        .filter(|words| words[0] >> 54 != 0 && header.thread.is_some() && !is_of_tasks(path))
        .map(|words| words[0] & ((1 << 54) - 1));
    let companion = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Some(PathBuf::from(name)).filter(|path| header.thread.is_some() && path.is_file())
    };
    let (sample, order) = (companion(SAMPLE_ENDING), companion(ORDER_ENDING));
    let first_record_ticks = sample.as_deref().and_then(first_call_ticks).or(first_record_ticks);
    let path = path.to_path_buf();
    Ok(SegmentInfo { path, bytes, header, first_record_ticks, sample, order, frozen: None })
}

/// When the reducer of a thread saw the first call, in ticks since the segment's base.
fn first_call_ticks(sample: &Path) -> Option<u64> {
    let bytes = std::fs::read(sample).ok()?;
    let state = kizami_summary::read(&bytes, []).ok()?;
    (!state.kinds.is_empty()).then_some(state.span.0)
}
