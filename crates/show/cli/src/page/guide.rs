//! How to read a report: the formulas, for who has it open.

use super::markup::Markup;
use kizami_explain::Pattern;

const EFFICIENCY: &str = "\
<h3>Efficiency</h3>
<dl>
<dt>parallel efficiency</dt><dd>PE = average computation / T = LB × SerE × TE, where T is the run time</dd>
<dt>load balance</dt><dd>LB = average computation / longest computation: loss by uneven work</dd>
<dt>serialisation</dt><dd>SerE = longest computation / T<sub>ideal</sub>: loss by ranks waiting for each other in turn</dd>
<dt>transfer</dt><dd>TE = T<sub>ideal</sub> / T: loss by the network</dd>
</dl>
<p>T is the time from the first rank that leaves <code>MPI_Init</code> to the last rank that enters <code>MPI_Finalize</code>.
T<sub>ideal</sub> is T of a replay in which messages and collectives take no time; ranks still wait for their partners.</p>
";
const FINDINGS: &str = "\
<h3>Findings</h3>
<p>Waiting is attributed to its root cause: what the delaying rank does meanwhile. If that rank waits itself, the wait is
passed on to the rank it waits for; ranks that are late together share it. Waiting is summed by activity and source line. The
gain is the difference between two replays: the run as recorded, and without the time others waited for. It is smaller than the
waiting if ranks then wait for something else. Its error combines the scatter of iterations with how unevenly that time is
spread.</p>
<p>Shares of waiting and calls are relative to the time of all ranks, gains to the run time.</p>
";

/// Writes it.
pub fn write(out: &mut Markup) {
    out.raw("<details>\n<summary>How to read this</summary>\n").raw(EFFICIENCY).raw(FINDINGS);
    out.raw("<h3>Wait states</h3>\n<p>enter is the time at which a rank calls the function.</p>\n<dl>\n");
    for pattern in Pattern::WAITS.into_iter().chain(Pattern::COMPLETIONS) {
        out.raw("<dt>").raw(pattern.name()).raw("</dt><dd>").raw(measures(pattern)).raw("</dd>\n");
    }
    out.raw("</dl>\n</details>\n");
}

/// What a kind of waiting measures.
fn measures(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::LateSender => {
            "enter(send) − enter(receive): a receive waits for a message that is sent late"
        }
        Pattern::LateSenderWrongOrder => {
            "the same, although a message received later had already been sent and could have been received first"
        }
        Pattern::LateReceiver => {
            "enter(receive) − enter(send): a send waits for a receive that is posted late"
        }
        Pattern::WaitAtNxN => "enter(last) − enter(own), in a collective that needs the data of all",
        Pattern::WaitAtBarrier => "enter(last) − enter(own), in a barrier",
        Pattern::EarlyReduce => "enter(last) − enter(root): the root enters a reduction or gather early",
        Pattern::LateBroadcast => {
            "enter(root) − enter(own): ranks wait for the root of a broadcast or scatter"
        }
        Pattern::EarlyScan => "enter(last before) − enter(own): a scan waits for lower ranks",
        Pattern::WaitAtFence => "enter(last) − enter(own), in creation, fence or freeing of a window",
        Pattern::LatePost => "enter(post) − enter(own): an access waits until its target exposes the window",
        Pattern::EarlyWait => {
            "enter(last complete) − enter(wait): a target waits until the origins complete their accesses"
        }
        Pattern::LateComplete => {
            "enter(last complete) − leave(last access) within such a wait: the origin was done, but had not called complete"
        }
        Pattern::LockContention => "enter(unlock) − enter(own): a lock waits until another rank releases it",
        Pattern::WaitAtFinalize => "enter(last) − enter(own), in <code>MPI_Finalize</code>",
        Pattern::NxNCompletion => {
            "leave(own) − enter(last), in a collective that needs the data of all: its duration once all ranks have entered"
        }
        Pattern::BarrierCompletion => "leave(own) − enter(last), in a barrier",
    }
}
