//! The OSU micro-benchmarks, by version.

use super::{collectives, file, import_osu, messages};
use kizami_machine::{Machine, import};
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn osu_5_has_averages_of_collectives() {
    let text = "
# OSU MPI All-to-All Personalized Exchange Latency Test v5.3.2
# Size         Avg Latency(us)
1                         1.50
4096                     99.25

# OSU MPI Barrier Latency Test v5.3.2
# Avg Latency(us)
             2.75
";
    let machine = import_osu("osu_alltoall.n16.txt", text, None).unwrap();
    let expected = [
        ("MPI_Alltoall", "plain", 16, 16, 1_500.0, 0),
        ("MPI_Alltoall", "plain", 65_536, 16, 99_250.0, 0),
        ("MPI_Barrier", "plain", 0, 16, 2_750.0, 0),
    ];
    assert_eq!(collectives(&machine), expected);
    assert_eq!(machine.about.disturbed, Vec::<String>::new());
    assert!(machine.about.imported_from[0].ends_with("osu_alltoall.n16.txt"));
}

#[test]
fn osu_5_has_two_headings_for_those_that_do_not_wait() {
    let text = "
# OSU MPI Non-blocking Barrier Latency Test v5.3.2
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

         Overall(us)         Compute(us)      Coll. Init(us)        MPI_Test(us)        MPI_Wait(us)      Pure Comm.(us)          Overlap(%)
                3.50                1.83                0.56                0.00                0.39                1.25                0.00

# OSU MPI Non-blocking Allreduce Latency Test v5.6.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       8.50              5.25              4.50             22.00
";
    let machine = import_osu("nbc.txt", text, Some(4)).unwrap();
    let expected = [
        ("MPI_Ibarrier", "plain", 0, 4, 1_250.0, 0),
        ("MPI_Ibarrier", "overlapped", 0, 4, 3_500.0, 0),
        ("MPI_Iallreduce", "plain", 4, 4, 4_500.0, 0),
        ("MPI_Iallreduce", "overlapped", 4, 4, 8_500.0, 0),
    ];
    assert_eq!(collectives(&machine), expected);
}

#[test]
fn osu_6_reports_the_slowest_rank_on_request() {
    let text = "
# OSU MPI Reduce Latency Test v6.2
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
100000                132.00             31.00            831.00         100
";
    let machine = import_osu("reduce-np8.txt", text, None).unwrap();
    assert_eq!(collectives(&machine), [("MPI_Reduce", "plain", 100_000, 8, 831_000.0, 100)]);
    assert_eq!(machine.collectives[0].high_ns, 831_000.0);
}

#[test]
fn osu_7_has_datatypes_verdicts_and_tails() {
    let text = "
# OSU MPI Allgather Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation  P50 Tail Lat(us)  P99 Tail Lat(us)
4                       3.40              3.20              3.60          50              Pass              1.25              1.50
8                       0.75              0.50              1.00          50              Fail              0.50              1.25
DATA VALIDATION ERROR: ./osu_allgather exited with status 1 on message size 8.

# OSU MPI Non-blocking All-to-All Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_CHAR.
# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)
4                       2.50              1.70              0.40              0.00              0.30              1.25              1.00              1.50             34.50
";
    let machine = import_osu("all.txt", text, Some(2)).unwrap();
    let expected = [
        ("MPI_Allgather", "plain", 8, 2, 3_600.0, 50),
        ("MPI_Allgather", "plain", 16, 2, 1_000.0, 50),
        ("MPI_Ialltoall", "plain", 8, 2, 1_250.0, 0),
        ("MPI_Ialltoall", "overlapped", 8, 2, 2_500.0, 0),
    ];
    assert_eq!(collectives(&machine), expected);
    assert_eq!(machine.collectives[0].disturbed, None);
    assert!(machine.collectives[1].disturbed.as_deref().unwrap().contains("wrong data"));
    assert_eq!(machine.about.disturbed.len(), 1);
    assert!(machine.about.disturbed[0].contains("line 7: passed over"), "{:?}", machine.about.disturbed);
}

#[test]
fn osu_messages_need_no_number_of_ranks() {
    let text = "mpirun -n 2 ./osu_latency
[node1:4711] SET UCX_NET_DEVICES=mlx5_2:1
# OSU MPI Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.50
2 total processes killed (some possibly by mpirun during cleanup)

# OSU MPI Latency Test v5.8
# Size          Latency (us)
8                       2.00

# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       0.00
1000                  500.00

# OSU MPI Bi-Directional Bandwidth Test v5.6.2
# Size      Bandwidth (MB/s)
1                       2.10

# OSU MPI_Put Latency Test v5.8
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Size          Latency (us)
1                       0.25

# OSU MPI_Get latency Test v5.8
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_fence
# Size          Latency (us)
1                       9.25
";
    let machine = import_osu("two.txt", text, None).unwrap();
    let expected = [("pingpong", 1, 2, 1_500.0), ("pingpong", 8, 2, 2_000.0), ("stream", 1_000, 2, 2_000.0)];
    assert_eq!(messages(&machine), expected);
    assert_eq!(collectives(&machine), [("MPI_Put", "plain", 1, 2, 250.0, 0)]);
    let notes = machine.about.disturbed.join("\n");
    for note in [
        "line 16: the rate of 1 bytes is missing",
        "line 19: OSU MPI Bi-Directional Bandwidth Test v5.6.2 left out: a machine has no such measurement",
        "one-sided calls with MPI_Win_fence left out",
        "line 1 and 2 more: passed over, no part of a table: \"mpirun -n 2 ./osu_latency\"",
    ] {
        assert!(notes.contains(note), "{note} not in\n{notes}");
    }
    // A replay takes its messages from it.
    assert_eq!(machine.costs().messages.round_trip_half.points(), [(1, 1_500.0), (8, 2_000.0)]);
}

#[test]
fn osu_files_that_cannot_be_right_are_refused_with_their_line() {
    let collective = "# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n4    1.25\n";
    let asks = import_osu("osu_allreduce.txt", collective, None).unwrap_err().to_string();
    assert!(
        asks.contains("osu_allreduce.txt: it does not say how many ranks") && asks.contains("--ranks"),
        "{asks}"
    );
    for (text, message) in [
        (format!("{collective}8\n"), "line 4: the row has not as many columns as its heading"),
        (format!("{collective}8  -1.0\n"), "line 4: the row does not have what its title promises"),
        (collective.replace("Avg", "Odd"), "line 2: a column of this heading is not known"),
        (collective.replace("# Size       Avg Latency(us)\n", ""), "line 2: a row before its heading"),
        ("hello\n".to_owned(), "there is no table of the OSU micro-benchmarks in it"),
        (
            "# OSU MPI-CUDA Allreduce Latency Test v7.0\n# Size  Avg Latency(us)\n4  1.25\n".to_owned(),
            "measured with buffers of an accelerator",
        ),
    ] {
        let error = import_osu("a.n2.txt", &text, None).unwrap_err().to_string();
        assert!(error.contains(message), "{message} not in {error}");
    }
    assert!(
        import::osu(&[PathBuf::from("/no/such/file")], None).unwrap_err().to_string().contains("cannot read")
    );
    assert!(import::osu(&[], None).unwrap_err().to_string().contains("there is no file"));
}

#[test]
fn several_files_become_one_machine() {
    let folder = TempDir::new().unwrap();
    let text =
        |us: &str| format!("# OSU MPI Allreduce Latency Test v7.1\n# Size       Avg Latency(us)\n4   {us}\n");
    let files =
        [file(&folder, "allreduce.n2.txt", &text("1.00")), file(&folder, "allreduce.n4.txt", &text("2.00"))];
    let machine = import::osu(&files, None).unwrap();
    assert_eq!(machine.ranks().into_iter().collect::<Vec<_>>(), [2, 4]);
    assert_eq!(machine.about.imported_from.len(), 2);
    let written = folder.path().join("imported.kzm");
    machine.write(&written).unwrap();
    let read = Machine::open(&written).unwrap();
    assert_eq!((read.collectives, read.messages), (machine.collectives, machine.messages));
}
