// Numbers as people read them: three digits, and the unit that fits.

const three = (value: number): string => {
  const size = Math.abs(value);
  return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
};

/** A length of time. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size < 999.5) return `${Math.round(ns)} ns`;
  if (size < 999.5e3) return `${three(ns / 1e3)} µs`;
  if (size < 999.5e6) return `${three(ns / 1e6)} ms`;
  return `${three(ns / 1e9)} s`;
}

/** With its sign, which nothing at all does not have. */
export const signedDuration = (ns: number): string => (Math.round(ns) === 0 ? '0' : `${ns < 0 ? '−' : '+'}${duration(Math.abs(ns))}`);

/** A moment of the run, with as many digits as tell it from one `step` away; in the unit that fits `like`. */
export function moment(ns: number, step = 1, like = ns): string {
  const size = Math.abs(like);
  const [scale, unit] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
  return `${groups((ns / scale).toFixed(digits))} ${unit}`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${Math.round(count)} B`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  let value = count / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${three(value)} ${units[unit]}`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
/** With its sign, which nothing at all does not have. */
export const signedPercent = (share: number): string => {
  const text = percent(Math.abs(share));
  return text === percent(0) ? text : `${share < 0 ? '−' : '+'}${text}`;
};

/** 1234567 -> 1,234,567; digits behind the point are left alone. */
function groups(text: string): string {
  const [whole = '', rest] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}
export const count = (value: number): string => groups(String(Math.round(value)));

export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

/** The last part of a path: what fits and is still telling. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
