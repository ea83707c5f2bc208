// What tasks, sub-trees and times are called, and the colours of sub-trees.
import { count, duration, moment } from '../format';
import type { Model } from '../model';
import { css, theme } from '../theme';
import type { TaskSelection } from './selection';

/** The function of a place; tasks without one are what a program does outside of parallel regions. */
export function taskName(model: Model, place: number | null): string {
  return place === null ? '(outside of parallel regions)' : model.site(place)?.function.slice(0, 80) || 'unknown task';
}
/** The line of a place. */
export function taskLine(model: Model, place: number | null): string {
  const site = place === null ? undefined : model.site(place);
  if (!site?.file) return '';
  return site.line ? `${site.file}:${site.line}`.slice(0, 80) : 'the query';
}
/** The same in few letters: without the file, if there is only one. */
export function shortLine(model: Model, place: number | null): string {
  const { callsites } = model.layer(model.store.get().layer);
  const line = taskLine(model, place);
  return callsites.every((site) => site.file === callsites[0]?.file) ? line.slice(line.lastIndexOf(':') === -1 ? 0 : line.lastIndexOf(':')) : line;
}
/** What a sub-tree is, in words. */
export function partTitle(part: string): string {
  if (part === 'all') return 'all tasks';
  return part[0] === 't' ? `task ${count(Number(part.slice(1)) + 1)} and its descendants` : part[0] === 'n' ? 'tasks with this path, and their descendants' : 'all tasks of this source line';
}
export const partName = (model: Model, part: string, place: number | null): string =>
  part === 'all' ? 'whole run' : part[0] === 't' ? `${taskName(model, place)} #${Number(part.slice(1)) + 1}` : part[0] === 'p' ? `all ${taskName(model, place)}` : taskName(model, place);

/** A length of time, in the unit of the run. */
export const length = (time: number, units: boolean): string => (units ? count(time) : duration(time));
/** A moment. */
export const at = (time: number, units: boolean, step: number): string => (units ? count(time) : moment(time, Math.max(1, step)));

const COLOURS = [2, 5, 4, 3, 6, 7];
/** The colour of a sub-tree; that of the whole run if it is not chosen. */
export function colourOf(parts: TaskSelection['parts'], part: string): string {
  const place = parts.indexOf(part);
  return css(theme().categories[place < 0 ? 1 : COLOURS[place % COLOURS.length]!]!);
}
