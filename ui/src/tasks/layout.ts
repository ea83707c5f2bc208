// Where tasks are drawn: over time in lanes, so that no two of a lane overlap. The critical path has the first lanes.
import type { FlowTask } from '../api';

export interface Laid {
  /** By task. */
  lane: Map<number, number>;
  lanes: number;
}

/** Puts each task into the free lane that is nearest to who made it. `gap` is the least time between two of a lane. */
export function lay(tasks: FlowTask[], gap: number): Laid {
  const lane = new Map<number, number>();
  let lanes = 0;
  for (const onPath of [true, false]) {
    /** When each lane of this group is free again. */
    const free: number[] = [];
    const first = lanes;
    const group = tasks.filter((task) => task.on_path === onPath).sort((a, b) => a.start - b.start || a.task - b.task);
    for (const task of group) {
      const near = onPath ? 0 : Math.max(0, (task.parent === null ? 0 : (lane.get(task.parent) ?? first)) - first);
      let best = -1;
      for (let i = 0; i < free.length; i++) {
        if (free[i]! <= task.start && (best < 0 || Math.abs(i - near) < Math.abs(best - near))) best = i;
      }
      if (best < 0) best = free.push(0) - 1;
      free[best] = Math.max(task.end, task.start + gap);
      lane.set(task.task, first + best);
    }
    lanes = first + free.length;
  }
  return { lane, lanes };
}
