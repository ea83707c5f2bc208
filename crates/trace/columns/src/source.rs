//! Where a table's bytes lie: in a file or in memory.
//!
//! No more is ever asked for than there is: a length out of a damaged file must not become a buffer.

use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The bytes of one table.
#[derive(Clone)]
pub(crate) enum Source {
    File { file: Arc<File>, bytes: u64 },
    Memory(Bytes),
}

impl Source {
    pub(crate) fn file(file: File) -> io::Result<Source> {
        let bytes = file.metadata()?.len();
        Ok(Source::File { file: Arc::new(file), bytes })
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Source::File { bytes, .. } => *bytes,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for Source {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Box<dyn Read>> {
        match self {
            Source::File { file, .. } => {
                Ok(Box::new(BufReader::new(FileFrom { file: file.clone(), position: start })))
            }
            Source::Memory(bytes) => {
                let start = usize::try_from(start).ok().filter(|start| *start <= bytes.len());
                let start = start.ok_or_else(|| beyond("a page"))?;
                Ok(Box::new(bytes.slice(start..).reader()))
            }
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.len());
        let end = end.ok_or_else(|| beyond("a piece"))?;
        match self {
            Source::File { file, .. } => {
                let mut buffer = vec![0; length];
                file.read_exact_at(&mut buffer, start)?;
                Ok(buffer.into())
            }
            // Both fit `usize`: the end is within bytes that are in memory.
            Source::Memory(bytes) => Ok(bytes.slice(start as usize..end as usize)),
        }
    }
}

fn beyond(what: &str) -> ParquetError {
    ParquetError::General(format!("{what} lies beyond the end"))
}

/// A file read from a position on, without moving the position others read at.
struct FileFrom {
    file: Arc<File>,
    position: u64,
}

impl Read for FileFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
