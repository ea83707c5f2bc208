//! Messages to ranks that left nothing, on a network with a host for each rank.

use kizami_graph::of_rows;
use kizami_model::{Call, Peer, Rank};
use kizami_platform::Platform;
use kizami_predict::{PredictError, on_platform};
use kizami_testing::{call, definitions};

#[test]
fn ranks_without_rows_need_a_host_too() {
    let send = |rank: u32, to: u32| Call {
        comm: Some(0),
        peer: Peer::Rank(Rank(to)),
        tag: Some(0),
        bytes_out: Some(u64::MAX),
        ..call("MPI_Send", rank, 10, 20)
    };
    let rows = [send(0, 1), send(1, 5), send(2, 5)];
    let graph = of_rows(&definitions(&[vec![0, 1, 2]]), &rows);
    assert_eq!(graph.ranks(), 3);
    let on = |platform: &str| on_platform(&graph, &Platform::parse(platform).unwrap(), 0);
    assert!(matches!(on("flat:4"), Err(PredictError::FewHosts { ranks: 6, hosts: 4 })));
    let model = on("flat:8").unwrap().model;
    assert!(model.per_byte_ns.is_finite() && model.latency_ns > 0.0, "{model:?}");
}
