// Which category a function belongs to, by its name. The server counts shares by the same rule; here it only colours
// the boxes of single calls.
import { CATEGORY } from './theme';

const RULES: [RegExp, number][] = [
  [/^(Recv|Mrecv|Imrecv|Sendrecv|Wait|Test|Probe|Iprobe|Mprobe|Improbe)/, CATEGORY.waiting],
  [/^I?(Send|Ssend|Bsend|Rsend|Recv|send|ssend|bsend|rsend|recv)|^P(send|recv|ready|arrived)|^Start|^(Cancel|Request_free)/, CATEGORY.pointToPoint],
  [/^I?(Barrier|Bcast|Gather|Scatter|All|Reduce|Scan|Exscan|Neighbor|barrier|bcast|gather|scatter|all|reduce|scan|exscan|neighbor)/, CATEGORY.collective],
  [/^(Put|Get$|Rput|Rget|Accumulate|Raccumulate|Get_accumulate|Rget_accumulate|Fetch_and_op|Compare_and_swap|Win_)/, CATEGORY.oneSided],
  [/^File_|^Register_datarep/, CATEGORY.file],
];

export function categoryOf(functionName: string): number {
  const name = functionName.replace(/^P?MPI_/, '');
  if (/^(Reduce_local|Get_|Testany_none|Test_cancelled)/.test(name)) return CATEGORY.other;
  return RULES.find(([rule]) => rule.test(name))?.[1] ?? CATEGORY.other;
}
