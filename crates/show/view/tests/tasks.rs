//! What the page is told about tasks: the figures of programs whose virtual times are known.

use kizami_fleng::{Observer, Program, Settings, Task};
use kizami_model::{Ending, Length, Moment, Rank, ThreadIndex};
use kizami_trace::run::ClockInfo;
use kizami_trace::write::About;
use kizami_trace::{CallSite, Definitions, NeedRow, RankInfo, TaskKind, TaskRow, TraceWriter};
use kizami_view::layer::Opened;
use kizami_view::server::{Server, View};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use tempfile::TempDir;

/// Writes tasks as they end; a place is a kind of goal.
struct Tasks(TraceWriter);

impl Observer for Tasks {
    fn finished(&mut self, task: &Task<'_>) {
        let moment = |units: u64| Moment(units as i64);
        let row = TaskRow {
            rank: Rank(0),
            task: task.number,
            parent: (task.parent > 0).then_some(task.parent),
            kind: TaskKind::Goal,
            callsite: Some(task.kind),
            thread: ThreadIndex(0),
            created: Some(moment(task.born)),
            start: moment(task.start),
            end: moment(task.end),
            running: moment(task.end) - moment(task.start),
            parent_running: None,
            tracer: Length::ZERO,
            weight: 1.0,
            waited: None,
            group: None,
            asleep: None,
        };
        self.0.task(row).unwrap();
        for need in task.needs.iter().filter(|need| need.task > 0) {
            let row =
                NeedRow { rank: Rank(0), task: task.number, of: need.task, at: Some(moment(need.time)) };
            self.0.need(row).unwrap();
        }
    }
}

struct Running {
    address: SocketAddr,
    token: String,
    _folder: TempDir,
}

/// Serves a run of an example.
fn running(file: &str, query: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let rank = RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(0)) };
    let callsite = |index| CallSite {
        index,
        offset: 0,
        module: None,
        function: format!("goal {index}"),
        file: None,
        line: None,
        inlined_into: Vec::new(),
        path: None,
    };
    let definitions = Definitions {
        ranks: vec![rank],
        callsites: (0..40).map(callsite).collect(),
        ..Definitions::default()
    };
    let mut tasks = Tasks(TraceWriter::create(&path, About::default(), definitions).unwrap());
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../workloads/fleng");
    let text = std::fs::read_to_string(examples.join(file)).unwrap();
    let query = Program::parse(&text).and_then(|program| program.query(query)).unwrap();
    let outcome = query.run(&Settings::default(), &mut tasks).unwrap();
    let describe = |run: &mut kizami_trace::RunInfo| {
        run.span_ns = outcome.end as i64;
        run.clocks.method = ClockInfo::VIRTUAL.to_owned();
    };
    tasks.0.finish(describe).unwrap();
    let opened = Opened::open(&path).unwrap();
    let server = Server::bind(View::new(&[opened]), "127.0.0.1:0".parse().unwrap()).unwrap();
    let (address, url) = (server.address().unwrap(), server.url().unwrap());
    std::thread::spawn(move || server.run());
    Running { address, token: url.split_once("token=").unwrap().1.to_owned(), _folder: folder }
}

impl Running {
    fn ask(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let (host, token) = (self.address, &self.token);
        let head = format!("Host: {host}\r\nX-Kizami-Token: {token}\r\nConnection: close");
        write!(stream, "GET /api/{path} HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask(path);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

fn sum(list: &Value, field: &str) -> i64 {
    list.as_array().unwrap().iter().map(|each| each[field].as_i64().unwrap()).sum()
}

const NAIVE: (&str, &str) = ("reverse.fl", "numbers(30, L), naive(L, R)");

#[test]
fn a_run_of_tasks_has_no_layer_of_calls() {
    let run = running(NAIVE.0, NAIVE.1).get("run");
    assert_eq!(run["layers"].as_array().unwrap().len(), 1);
    let layer = &run["layers"][0];
    assert_eq!((&layer["tasks"], &layer["only_tasks"]), (&true.into(), &true.into()));
    assert_eq!(layer["kind"], "virtual");
}

#[test]
fn curves_are_those_of_the_program() {
    for (file, query, [end, work, peak]) in [
        (NAIVE.0, NAIVE.1, [366, 1_735, 18]),
        ("best_path.fl", "best_path(a, h, Cost, Path)", [253, 4_535, 67]),
    ] {
        let running = running(file, query);
        let answer = running.get("tasks/curves?columns=4000");
        let all = &answer["curves"][0];
        assert_eq!((answer["begin"].as_i64(), answer["end"].as_i64()), (Some(0), Some(end)));
        assert_eq!((all["work"].as_i64(), all["peak"].as_i64()), (Some(work), Some(peak)));
        assert_eq!(all["marked_work"].as_i64(), Some(work));
        // No more columns than units: each is how many tasks run.
        let columns: Vec<f64> =
            all["columns"].as_array().unwrap().iter().map(|each| each.as_f64().unwrap()).collect();
        assert_eq!(columns.len() as i64, end);
        assert_eq!(
            (columns.iter().sum::<f64>(), columns.iter().fold(0.0, |a: f64, b| a.max(*b))),
            (work as f64, peak as f64)
        );
        // The tree's roots and the places hold all of it.
        let tree = running.get("tasks/tree");
        let roots = tree["nodes"].as_array().unwrap().iter().filter(|node| node["parent"].is_null());
        let roots = Value::Array(roots.cloned().collect());
        assert_eq!((sum(&roots, "work"), sum(&roots, "on_path")), (work, end));
        let lengths = running.get("tasks/lengths");
        assert_eq!((lengths["work"].as_i64(), sum(&lengths["places"], "work")), (Some(work), work));
    }
}

#[test]
fn markers_and_parts_narrow_all_answers() {
    let running = running(NAIVE.0, NAIVE.1);
    let tree = running.get("tasks/tree");
    let node = tree["nodes"].as_array().unwrap().iter().find(|node| !node["parent"].is_null()).unwrap();
    let part = format!("parts=n{}", node["node"]);
    let answer = running.get(&format!("tasks/curves?{part}&mark_from=200&mark_to=300"));
    let of_node = &answer["curves"][1];
    assert_eq!((&of_node["work"], &of_node["tasks"]), (&node["work"], &node["tasks"]));
    let lengths = running.get(&format!("tasks/lengths?{part}&mark_from=200&mark_to=300"));
    assert_eq!(lengths["work"], of_node["marked_work"]);
    let flow = running.get(&format!("tasks/flow?{part}&mark_from=200&mark_to=300"));
    assert_eq!(flow["of"], lengths["tasks"]);
    assert!(flow["tasks"].as_array().unwrap().iter().all(|task| task["start"].as_i64() < Some(300)));
    // Aligned, it begins at 0, and its first tasks are there.
    let begin = of_node["begin"].as_i64().unwrap();
    let answer = running.get(&format!("tasks/curves?{part}&aligned=true&from=0&to=10"));
    assert_eq!(answer["curves"][1]["shift"].as_i64(), Some(begin));
    assert!(answer["curves"][1]["columns"][0].as_f64() >= Some(1.0));
    let flow = running.get(&format!("tasks/flow?{part}&aligned=true&mark_from=0&mark_to=10"));
    assert!(flow["tasks"].as_array().unwrap().iter().any(|task| task["start"] == 0));
}

#[test]
fn answers_are_bounded_and_nonsense_is_refused() {
    let running = running("best_path.fl", "best_path(a, h, Cost, Path)");
    let flow = running.get("tasks/flow");
    assert_eq!((flow["tasks"].as_array().unwrap().len(), flow["of"].as_i64()), (500, Some(1_997)));
    let path: Vec<bool> =
        flow["tasks"].as_array().unwrap().iter().map(|task| task["on_path"] == true).collect();
    assert!(path[0] && path.is_sorted_by_key(|on_path| !on_path), "the critical path comes first");
    for query in [
        "curves?parts=n99999",
        "curves?parts=x1",
        "curves?parts=n",
        "curves?parts=t1,t2,t3,t4,t5,t6,t7,t8,t9",
        "curves?from=9&to=3",
        "curves?from=-9223372036854775808",
        "lengths?mark_to=9223372036854775807",
        "curves?columns=99999",
        "flow?limit=501",
        "schedule?processors=0",
        "schedule?strategy=best",
    ] {
        assert_eq!(running.ask(&format!("tasks/{query}")).0, 400, "{query}");
    }
}

#[test]
fn processors_are_bounded_and_simulated() {
    let running = running(NAIVE.0, NAIVE.1);
    for (query, expected) in [
        ("processors=1", [1_735, 1_735, 1_735]),
        ("processors=4294967295&strategy=newest", [366, 366, 366]),
        ("processors=8&strategy=oldest", [366, 421, 538]),
    ] {
        let answer = running.get(&format!("tasks/schedule?{query}"));
        let figures = ["at_least", "simulated", "at_most"].map(|name| answer[name].as_i64().unwrap());
        assert_eq!(figures, expected, "{query}");
    }
}
