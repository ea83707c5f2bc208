//! Calls on windows as an actor makes them: every window is the buffer that messages go to.

use super::Actor;
use crate::library::{Handle, NULL};
use crate::script::{Access, OnWindow, Way};
use std::ffi::{c_int, c_long};

const EXCLUSIVE: c_int = 1;
const SHARED: c_int = 2;

impl Actor<'_> {
    pub(super) fn on_window(&mut self, place: u32, on: &OnWindow) {
        let s = &self.stage.simgrid;
        let window = &mut self.windows[place as usize];
        // SAFETY: called by an actor; the buffer has room for the most that an access moves, and outlives the window.
        unsafe {
            match on {
                OnWindow::New { comm } => {
                    let (base, size) = (self.stage.buffers[1], self.stage.buffer_bytes as c_long);
                    (s.win_create)(base, size, 1, NULL, self.communicators[*comm as usize], window);
                }
                OnWindow::Free => {
                    (s.win_free)(window);
                }
                OnWindow::Fence => {
                    (s.win_fence)(0, *window);
                }
                OnWindow::Lock { target, exclusive } => {
                    (s.win_lock)(if *exclusive { EXCLUSIVE } else { SHARED }, *target, 0, *window);
                }
                OnWindow::LockAll => {
                    (s.win_lock_all)(0, *window);
                }
                OnWindow::Unlock(Some(target)) => {
                    (s.win_unlock)(*target, *window);
                }
                OnWindow::Unlock(None) => {
                    (s.win_unlock_all)(*window);
                }
                OnWindow::Flush { target: Some(target), locally } => {
                    let flush = if *locally { s.win_flush_local } else { s.win_flush };
                    flush(*target, *window);
                }
                OnWindow::Flush { target: None, locally } => {
                    let flush = if *locally { s.win_flush_local_all } else { s.win_flush_all };
                    flush(*window);
                }
                OnWindow::Access(access, request) => {
                    let window = *window;
                    self.access(access, window, *request);
                }
            }
        }
    }

    fn access(&mut self, access: &Access, window: Handle, request: Option<u32>) {
        let (s, byte, op) = (&self.stage.simgrid, self.stage.simgrid.byte, self.operation);
        let (Access { target, way, bytes }, [from, to]) = (*access, self.stage.buffers);
        let request: Option<*mut Handle> = request.map(|place| &raw mut self.requests[place as usize]);
        // SAFETY: as above; places of requests stay.
        unsafe {
            match (way, request) {
                (Way::Put, None) => (s.put)(from, bytes, byte, target, 0, bytes, byte, window),
                (Way::Put, Some(request)) => {
                    (s.rput)(from, bytes, byte, target, 0, bytes, byte, window, request)
                }
                (Way::Get, None) => (s.get)(to, bytes, byte, target, 0, bytes, byte, window),
                (Way::Get, Some(request)) => {
                    (s.rget)(to, bytes, byte, target, 0, bytes, byte, window, request)
                }
                (Way::Add, None) => (s.accumulate)(from, bytes, byte, target, 0, bytes, byte, op, window),
                (Way::Add, Some(request)) => {
                    (s.raccumulate)(from, bytes, byte, target, 0, bytes, byte, op, window, request)
                }
                (Way::AddAndGet, None) => {
                    (s.get_accumulate)(from, bytes, byte, to, bytes, byte, target, 0, bytes, byte, op, window)
                }
                (Way::AddAndGet, Some(request)) => (s.rget_accumulate)(
                    from, bytes, byte, to, bytes, byte, target, 0, bytes, byte, op, window, request,
                ),
                (Way::Swap, _) => (s.compare_and_swap)(from, from, to, byte, target, 0, window),
            }
        };
    }
}
