//! How to read a report: the formulas, for who has it open.

use super::markup::Markup;
use kizami_explain::Pattern;

const EFFICIENCY: &str = "\
<h3>Efficiency</h3>
<dl>
<dt>parallel efficiency</dt><dd>PE = average computation / T = LB × SerE × TE, where T is the run time</dd>
<dt>load balance</dt><dd>LB = average computation / longest computation: what uneven work costs</dd>
<dt>serialisation</dt><dd>SerE = longest computation / T<sub>ideal</sub>: what ranks lose that wait for each other in turn</dd>
<dt>transfer</dt><dd>TE = T<sub>ideal</sub> / T: what the network costs</dd>
</dl>
<p>T is the time from the first rank that leaves <code>MPI_Init</code> to the last that comes to <code>MPI_Finalize</code>.
T<sub>ideal</sub> is the same of the run replayed with messages and collectives that cost nothing: only partners are waited for.</p>
";
const FINDINGS: &str = "\
<h3>Findings</h3>
<p>While a rank waits for another, that other does something. What it does meanwhile has made the first one wait; if it
waits itself, whoever it waits for has. Those who are late together share it. Waiting is added up by what was done, and where. The gain is the difference of
two replays of the run: as recorded, and without the time others waited for. It is below the waiting where ranks wait for
something else afterwards. Its error says how unevenly that time came, and how far iterations of the run scatter.</p>
<p>Shares of waiting and of calls are of the time of all ranks together, gains are of the run.</p>
";

/// Writes it.
pub fn write(out: &mut Markup) {
    out.raw("<details>\n<summary>How to read this</summary>\n").raw(EFFICIENCY).raw(FINDINGS);
    out.raw("<h3>Kinds of waiting</h3>\n<p>enter is the moment a rank calls the function.</p>\n<dl>\n");
    for pattern in Pattern::WAITS.into_iter().chain(Pattern::COMPLETIONS) {
        out.raw("<dt>").raw(pattern.name()).raw("</dt><dd>").raw(measures(pattern)).raw("</dd>\n");
    }
    out.raw("</dl>\n</details>\n");
}

/// What a kind of waiting measures.
fn measures(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::LateSender => {
            "enter(send) − enter(receive): a receive waits for a message that is sent later"
        }
        Pattern::LateSenderWrongOrder => {
            "the same, while a message that is received later had been sent earlier: it could have been taken first"
        }
        Pattern::LateReceiver => {
            "enter(receive) − enter(send): a send waits for a receive that is posted later"
        }
        Pattern::WaitAtNxN => "enter(last) − enter(own), in a collective that needs the data of all",
        Pattern::WaitAtBarrier => "enter(last) − enter(own), in a barrier",
        Pattern::EarlyReduce => {
            "enter(last) − enter(root): the root of a reduction or gather comes too early"
        }
        Pattern::LateBroadcast => {
            "enter(root) − enter(own): ranks wait for the root of a broadcast or scatter"
        }
        Pattern::EarlyScan => "enter(last before) − enter(own): a prefix sum waits for ranks before it",
        Pattern::WaitAtFence => "enter(last) − enter(own), where a window is made, fenced or freed",
        Pattern::LatePost => {
            "enter(post) − enter(own): an access to a window waits until its target opens it"
        }
        Pattern::EarlyWait => {
            "enter(last complete) − enter(wait): a target waits until the origins are done with its window"
        }
        Pattern::LateComplete => {
            "enter(last complete) − leave(last access) within such a wait: the origin was done, but did not say so"
        }
        Pattern::LockContention => {
            "enter(unlock) − enter(own): a lock, or what needs it, waits until another lets go"
        }
        Pattern::WaitAtFinalize => "enter(last) − enter(own), in <code>MPI_Finalize</code>",
        Pattern::NxNCompletion => {
            "leave(own) − enter(last), in a collective that needs the data of all: what it takes once all have come"
        }
        Pattern::BarrierCompletion => "leave(own) − enter(last), in a barrier",
    }
}
