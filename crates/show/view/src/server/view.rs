//! What is looked at.

use super::parameters::Parameters;
use super::reply::Failure;
use crate::layer::{Layer, Opened, Origin};
use crate::query::order::Order;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// Ranks in an order that took long to find, by layer and kind of order.
type Orders = FxHashMap<(usize, u8), Arc<Vec<u32>>>;

/// What is looked at: layers, and what was worked out for all requests alike.
#[derive(Debug)]
pub struct View {
    pub(super) layers: Vec<Layer>,
    /// What was foretold for other numbers of ranks, as `kizami predict --json` prints it.
    pub prediction: Option<serde_json::Value>,
    orders: Mutex<Orders>,
}

impl View {
    /// Of traces, in this order; behind them come the same on an ideal network.
    pub fn new(traces: &[Arc<Opened>]) -> View {
        let of = |origin| traces.iter().map(move |opened| Layer { opened: Arc::clone(opened), origin });
        // What makes no calls has no use for a network.
        let ideal = of(Origin::Ideal).filter(|layer| !layer.opened.is_only_tasks());
        let layers = of(Origin::Trace).chain(ideal).collect();
        View { layers, prediction: None, orders: Mutex::default() }
    }

    /// All ranks of a layer in an order, worked out once.
    pub(super) fn order(&self, layer: usize, order: Order, work: impl FnOnce() -> Vec<u32>) -> Arc<Vec<u32>> {
        let key = (layer, order as u8);
        let lock = || self.orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(work());
        lock().insert(key, Arc::clone(&made));
        made
    }
}

/// The layer that is meant.
pub(super) fn layer<'a>(view: &'a View, parameters: &Parameters) -> Result<&'a Layer, Failure> {
    let number = parameters.layer;
    view.layers.get(number).ok_or_else(|| Failure::bad(format!("Layer {number} does not exist.")))
}
