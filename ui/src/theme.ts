// Light and dark. The page's colours are CSS variables (style.css); what is drawn on canvases needs numbers,
// and finds them here. Categories use the Okabe-Ito colours, which people with any common colour vision tell
// apart; computation is a quiet grey-blue in both themes, so that what is lost stands out.

export type Rgb = readonly [number, number, number];
export type ThemeName = 'light' | 'dark';

const hex = (text: string): Rgb => [parseInt(text.slice(1, 3), 16), parseInt(text.slice(3, 5), 16), parseInt(text.slice(5, 7), 16)];

/** Indices of the categories the server counts shares for. */
export const CATEGORY = { compute: 0, send: 1, receive: 2, collective: 3, oneSided: 4, file: 5, other: 6, tracer: 7, none: 8 } as const;
/** From the bottom of a cell upwards: computation first, lost time on top. */
export const STACK = [0, 7, 6, 5, 4, 1, 3, 2, 8] as const;
/** In the order a legend lists them. */
export const LEGEND = [0, 2, 3, 1, 4, 5, 6, 7, 8] as const;

const LIGHT = ['#c3d3e0', '#0072b2', '#d55e00', '#e69f00', '#cc79a7', '#009e73', '#8ecdf0', '#8a7d00', '#f3f5f7'].map(hex);
const DARK = ['#3a5068', '#3f9fdc', '#e8702a', '#f0b429', '#d98cb8', '#1fb58a', '#7596ac', '#f0e442', '#161c22'].map(hex);
const HATCH = { light: [hex('#d9dee3'), hex('#f0e442')], dark: [hex('#2a333d'), hex('#6b6512')] } as const;

export interface Theme {
  name: ThemeName;
  categories: Rgb[];
  /** The second colour of what is hatched: no record, tracer. */
  hatchNone: Rgb;
  hatchTracer: Rgb;
  background: string;
  ink: string;
  inkSoft: string;
  line: string;
  accent: string;
  lost: string;
  /** The font of labels on canvases. */
  label: string;
}

const KEY = 'kizami-theme';
const listeners = new Set<() => void>();
let current: Theme | null = null;
/** What was chosen on this page, where nothing may be stored. */
let forced: ThemeName | null = null;

function stored(): ThemeName | null {
  try {
    const name = localStorage.getItem(KEY);
    return name === 'light' || name === 'dark' ? name : null;
  } catch {
    return null;
  }
}
const preferred = (): ThemeName => forced ?? stored() ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

export function theme(): Theme {
  if (current) return current;
  const name = preferred();
  document.documentElement.dataset.theme = name;
  const css = getComputedStyle(document.documentElement);
  const variable = (key: string) => css.getPropertyValue(key).trim();
  current = {
    name,
    categories: name === 'light' ? LIGHT : DARK,
    hatchNone: HATCH[name][0],
    hatchTracer: HATCH[name][1],
    background: variable('--panel'),
    ink: variable('--ink'),
    inkSoft: variable('--ink-soft'),
    line: variable('--line'),
    accent: variable('--accent'),
    lost: variable('--lost'),
    label: `${variable('--label')} ${variable('--font')}`,
  };
  return current;
}
export function toggleTheme(): void {
  const next = theme().name === 'light' ? 'dark' : 'light';
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A page that may store nothing still changes its colours.
  }
  forced = next;
  refresh();
}
function refresh(): void {
  current = null;
  theme();
  for (const listener of listeners) listener();
}
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
// Labels are larger on large screens.
matchMedia('(min-width: 2560px)').addEventListener('change', refresh);

export const css = ([r, g, b]: Rgb, alpha = 1): string => (alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`);
/** Black or white, whichever reads better on a colour. */
export const inkOn = ([r, g, b]: Rgb): string => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#10161c' : '#ffffff');
