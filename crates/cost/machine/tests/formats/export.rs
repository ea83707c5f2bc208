//! What other tools get.

use super::imb::IMB_2021;
use super::{import_imb, import_osu};
use kizami_machine::{CollectiveRow, Machine, export};

/// A row of an algorithm.
fn by(operation: &str, algorithm: &str, bytes: u64, ranks: u32, span_ns: f64) -> CollectiveRow {
    CollectiveRow {
        operation: operation.to_owned(),
        pattern: "plain".to_owned(),
        algorithm: Some(algorithm.to_owned()),
        bytes,
        ranks,
        nodes: None,
        ranks_per_node: None,
        span_ns,
        low_ns: span_ns,
        high_ns: span_ns,
        first_ns: None,
        repetitions: 10,
        disturbed: None,
    }
}

#[test]
fn open_mpi_gets_the_fastest_algorithm() {
    let unsure = CollectiveRow { disturbed: Some("busy".to_owned()), ..by("MPI_Allreduce", "2", 8, 4, 1.0) };
    let collectives = vec![
        unsure,
        by("MPI_Allreduce", "3", 8, 4, 100.0),
        by("MPI_Allreduce", "4 ring", 8, 4, 300.0),
        by("MPI_Allreduce", "3", 1_024, 4, 150.0),
        by("MPI_Allreduce", "4 ring", 1_024, 4, 350.0),
        by("MPI_Allreduce", "3", 65_536, 4, 9_000.0),
        by("MPI_Allreduce", "4 ring", 65_536, 4, 5_000.0),
        by("MPI_Alltoallv", "1", 8, 2, 100.0),
        by("MPI_Alltoallv", "2", 8, 2, 110.0),
        by("MPI_Alltoallv", "1", 4_096, 2, 900.0),
        by("MPI_Alltoallv", "2", 4_096, 2, 500.0),
    ];
    let machine = Machine { collectives, ..Machine::default() };
    let rules = export::ompi_rules(&machine).unwrap();
    let numbers: Vec<&str> = rules.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
    let expected = [
        "",
        "2", // collectives
        "2",
        "2",
        "1",
        "1",
        "0 0 0 0",
        "4",
        "2",
        "0 3 0 0",
        "65536 4 0 0", // allreduce
        "4",
        "1",
        "2",
        "1",
        "0 2 0 0", // alltoallv
    ];
    assert_eq!(numbers, expected, "{rules}");
}

/// A rule for two ranks holds for more, which cannot do what only two can.
#[test]
fn algorithms_of_two_ranks_become_no_rules() {
    let collectives =
        vec![by("MPI_Alltoall", "5 two_proc", 4, 2, 1.0), by("MPI_Alltoall", "2 pairwise", 4, 2, 9.0)];
    let rules = export::ompi_rules(&Machine { collectives, ..Machine::default() }).unwrap();
    assert!(rules.contains("0 2 0 0") && !rules.contains("0 5 0 0"), "{rules}");
}

#[test]
fn without_algorithms_it_is_said_how_to_measure_them() {
    let machine = import_imb(IMB_2021).unwrap();
    let error = export::ompi_rules(&machine).unwrap_err().to_string();
    assert!(error.contains("which algorithm") && error.contains("kizami bench --algorithms"), "{error}");
    let named = Machine { collectives: vec![by("MPI_Bcast", "ring", 8, 4, 1.0)], ..Machine::default() };
    assert!(export::ompi_rules(&named).unwrap_err().to_string().contains("\"ring\""));
}

#[test]
fn a_model_is_exported_as_replay_reads_it() {
    let machine = import_imb(IMB_2021).unwrap();
    // From 500 ns for nothing to 1250 ns for 1024 bytes; sends were not measured, so they cost nothing.
    assert_eq!(export::loggops(&machine).unwrap(), "L=500ns,o=0ns,g=0ns,G=0.732422ns,O=0ns,S=65536\n");
    let error = export::loggops(&Machine::default()).unwrap_err().to_string();
    assert!(error.contains("kizami bench"), "{error}");
}

#[test]
fn extra_p_gets_all_operations_at_the_same_points() {
    let mut collectives = Vec::new();
    for ranks in [2, 4] {
        let plain = |operation: &str, bytes: u64, ns: f64| CollectiveRow {
            algorithm: None,
            ..by(operation, "", bytes, ranks, ns * f64::from(ranks))
        };
        let sizes = [(0, 10.0), (8, 100.0), (64, 660.0), (4_096, 9_000.0)];
        collectives.extend(sizes.map(|(bytes, ns)| plain("MPI_Allreduce", bytes, ns)));
        collectives.extend(
            [(16, 200.0), (32, 300.0), (512, 1_000.0)].map(|(bytes, ns)| plain("MPI_Bcast", bytes, ns)),
        );
        collectives.push(plain("MPI_Barrier", 0, 50.0));
    }
    collectives.push(by("MPI_Bcast", "6", 8, 4, 1_500.0));
    let machine = Machine { collectives, ..Machine::default() };
    let expected = "\
# Times in seconds; between measured sizes on the line between them
# Left out, measured at other points: MPI_Bcast->algorithm 6
PARAMETER p
PARAMETER bytes
POINTS ( 2 16 ) ( 2 32 ) ( 2 64 ) ( 2 512 ) ( 4 16 ) ( 4 32 ) ( 4 64 ) ( 4 512 )
REGION MPI_Allreduce
METRIC time
DATA 3.6e-7
DATA 6.8e-7
";
    let text = export::extrap(&machine).unwrap();
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.matches("DATA").count(), 3 * 8);
    assert!(text.contains("REGION MPI_Barrier\nMETRIC time\nDATA 1e-7\nDATA 1e-7\n"), "{text}");
}

#[test]
fn extra_p_gets_one_parameter_if_only_one_varies() {
    let text = "# OSU MPI Latency Test v7.4\n# Size   Avg Latency(us)\n1  1.0\n2  2.0\n4  3.0\n";
    let sizes = export::extrap(&import_osu("latency.txt", text, None).unwrap()).unwrap();
    assert!(sizes.contains("# p = 2\nPARAMETER bytes\nPOINTS 1 2 4\nREGION message->pingpong\n"), "{sizes}");
    let barrier = |ranks| CollectiveRow { algorithm: None, ..by("MPI_Barrier", "", 0, ranks, 5.0) };
    let barriers = Machine { collectives: [2, 4, 8].map(barrier).to_vec(), ..Machine::default() };
    let ranks = export::extrap(&barriers).unwrap();
    assert!(ranks.contains("PARAMETER p\nPOINTS 2 4 8\nREGION MPI_Barrier\n"), "{ranks}");
    let one = Machine { collectives: vec![barrier(2)], ..Machine::default() };
    for too_few in [one, Machine::default()] {
        assert!(export::extrap(&too_few).unwrap_err().to_string().contains("kizami bench"));
    }
}
