// What `kizami predict --json` prints (docs/src/reference/json.md), as far as the page reads it.

export interface PredictionPlace {
  file: string | null;
  line: number | null;
  function: string;
}
export interface PredictedCall {
  function: string;
  place: PredictionPlace;
  waiting: number;
  transfer: number;
}
export interface PredictedPoint {
  ranks: number;
  time_s: number;
  low_s: number;
  high_s: number;
  efficiency: number;
  shares: { computation: number; waiting: number; transfer: number; calls: PredictedCall[] };
  limited_by: { what: string; place: PredictionPlace; share: number; by: string | null }[];
}
export interface Prediction {
  program: string;
  machine: string | null;
  from: { trace: string; ranks: number; time_s: number; efficiency: number }[];
  check: { foretold: { ranks: number }; error_share: number } | null;
  points: PredictedPoint[];
}

export const placeText = (place: PredictionPlace): string =>
  place.file ? (place.line !== null ? `${place.file}:${place.line}` : `${place.function} in ${place.file}`) : place.function;
