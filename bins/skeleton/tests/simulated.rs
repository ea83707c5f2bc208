//! What a small run says of a larger one, where a simulator knows the truth: a skeleton's calls and computation at 64 ranks,
//! learned at 4, against a run of the program itself with 64.

mod product;

use product::{json, kizami, ran, workloads};
use std::fs;
use std::path::Path;
use std::process::Command;

fn record(folder: &Path, ranks: u32, shape: &str) -> String {
    let out = format!("{shape}{ranks}.kz");
    let simulator = ["smpirun", "-platform", "cluster.xml", "-hostfile", "hosts", "-np", &ranks.to_string()]
        .map(str::to_owned)
        .into_iter()
        .chain(["--cfg=smpi/simulate-computation:no", "--log=root.thres:error"].map(str::to_owned));
    ran(Command::new(kizami())
        .current_dir(folder)
        .args(["record", "-o", &out, "--"])
        .args(simulator)
        .args(["./rows", shape, "512", "3"]));
    out
}

/// How long the run takes where messages cost nothing: what is left is computation and who waits for it.
fn computed_ns(folder: &Path, trace: &str) -> f64 {
    let predicted = ran(Command::new(kizami()).current_dir(folder).args([
        "replay",
        trace,
        "--network",
        "ideal",
        "--json",
    ]));
    json(&predicted)["replayed_work_ns"].as_f64().expect("a time")
}

#[test]
fn four_ranks_predict_sixty_four() {
    let scratch = tempfile::tempdir().unwrap();
    let (folder, sources) = (scratch.path(), workloads());
    let hosts: String = (0..64).map(|host| format!("n-{host}\n")).collect();
    fs::write(folder.join("hosts"), hosts).unwrap();
    let cluster = r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" radical="0-63" suffix="" speed="1Gf" bw="1.25GBps" lat="1us"/>
</platform>
"#;
    fs::write(folder.join("cluster.xml"), cluster).unwrap();
    let build = |compiler: &mut Command, program: &str| {
        let (include, source) = (format!("-I{}", sources.display()), sources.join("rows.c"));
        ran(compiler
            .current_dir(folder)
            .args(["-O2", "-g", &include])
            .arg(source)
            .args(["-o", program, "-lm"]));
    };
    build(&mut Command::new("smpicc"), "rows");
    // What a program sends does not depend on whose headers it is compiled with.
    let mut builds = Command::new(kizami());
    builds.args(["skeleton", "build", "-o", "rows.skel", "--", "mpicc.openmpi"]);
    build(&mut builds, "ordinary");

    for shape in ["plate", "triangle", "transpose"] {
        let (small, large) = (record(folder, 4, shape), record(folder, 64, shape));
        let check = ["skeleton", "check", "rows.skel", &large, "--json"];
        let check = json(&ran(Command::new(kizami()).current_dir(folder).args(check)));
        assert_eq!((&check["identical"], &check["ranks"]), (&64.into(), &64.into()), "{shape}: {check}");
        let predicted = format!("{shape}.told.kz");
        let run = ["skeleton", "run", "rows.skel", "--like", &small, "--ranks", "64", "--noise", "none"];
        ran(Command::new(kizami())
            .current_dir(folder)
            .args(run)
            .args(["-o", &predicted, "--", shape, "512", "3"]));
        let (truth, predicted) = (computed_ns(folder, &large), computed_ns(folder, &predicted));
        assert!((predicted / truth - 1.0).abs() < 0.005, "{shape}: {predicted} ns instead of {truth}");
    }
}
