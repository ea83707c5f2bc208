//! Calls on windows, as far as SimGrid's MPI plays them and the trace says enough: fences, locks, and what is read and written
//! between them. Epochs of groups (`MPI_Win_post`, `MPI_Win_start`) keep their lengths.

use super::Translator;
use crate::script::{Access, Action, OnWindow, Way};
use anyhow::Result;
use kizami_model::kind::WindowCall;
use kizami_model::{Call, Peer};
use rustc_hash::FxHashMap;

/// What is known of a rank's windows.
#[derive(Default)]
pub(super) struct Windows {
    /// By the object of the trace.
    open: FxHashMap<u32, Window>,
    made: u32,
}

#[derive(Clone, Copy)]
struct Window {
    place: u32,
    comm: u32,
    /// Whether the calls that open and close it to others are played.
    is_played: bool,
}

impl Translator {
    pub(super) fn window_call(&mut self, call: &Call, what: WindowCall) -> Result<Action> {
        if what == WindowCall::New {
            return Ok(self.new_window(call));
        }
        if what == WindowCall::Ask {
            return Ok(Action::Keep);
        }
        let Some(window) = call.object.and_then(|object| self.rank.windows.open.get_mut(&object)) else {
            return Ok(self.keep(call));
        };
        window.is_played = match what {
            WindowCall::Fence | WindowCall::Lock | WindowCall::LockAll => true,
            WindowCall::Post | WindowCall::Start => false,
            _ => window.is_played,
        };
        let window = *window;
        if call.peer == Peer::Null {
            return Ok(Action::Keep);
        }
        let target = match call.peer {
            Peer::Rank(target) => Some(self.place(window.comm, target, call)?),
            _ => None,
        };
        let on = match (what, target) {
            (WindowCall::Free, _) => OnWindow::Free,
            (WindowCall::Fence, _) => OnWindow::Fence,
            (WindowCall::Lock, Some(target)) => OnWindow::Lock { target, exclusive: call.tag == Some(1) },
            (WindowCall::LockAll, _) => OnWindow::LockAll,
            (WindowCall::Unlock, _) if window.is_played => OnWindow::Unlock(target),
            (WindowCall::Flush, _) if window.is_played => {
                OnWindow::Flush { target, locally: call.op.name().contains("local") }
            }
            (WindowCall::Access, Some(target)) if window.is_played => {
                return self.access(call, window, target);
            }
            _ => return Ok(self.keep(call)),
        };
        Ok(Action::OnWindow(window.place, on))
    }

    fn new_window(&mut self, call: &Call) -> Action {
        let (Some(comm), Some(object)) = (call.comm, call.object) else { return self.keep(call) };
        let windows = &mut self.rank.windows;
        let place = windows.made;
        windows.made += 1;
        windows.open.insert(object, Window { place, comm, is_played: false });
        let script = &mut self.play.scripts[self.rank.rank as usize];
        script.windows = script.windows.max(place + 1);
        Action::OnWindow(place, OnWindow::New { comm })
    }

    fn access(&mut self, call: &Call, window: Window, target: i32) -> Result<Action> {
        let bytes = self.bytes(call.bytes_out.max(call.bytes_in).unwrap_or(0))?;
        let way = match (call.op.name(), call.bytes_out.is_some(), call.bytes_in.is_some()) {
            ("MPI_Compare_and_swap", ..) => Way::Swap,
            ("MPI_Accumulate" | "MPI_Raccumulate", ..) => Way::Add,
            (_, true, false) => Way::Put,
            (_, false, true) => Way::Get,
            _ => Way::AddAndGet,
        };
        let request = call.request.map(|request| {
            let script = &mut self.play.scripts[self.rank.rank as usize];
            self.rank.place_for(request, script)
        });
        let access = Access { target, way, bytes };
        Ok(Action::OnWindow(window.place, OnWindow::Access(access, request)))
    }
}
