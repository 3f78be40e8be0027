import Papa from 'papaparse';
import { pathText } from '../decode/json-path.ts';
import type { Recording } from './recorder.ts';

const HEADER = ['time', 'time_ms', 'topic', 'source', 'value'];

/** Samples of a window as CSV (RFC 4180), one line each: series with different times share no rows. */
export function* csvOf(recordings: readonly Recording[], fromMs: number, toMs: number): Generator<string> {
  yield `${Papa.unparse([HEADER])}\r\n`;
  for (const { series, samples } of recordings) {
    const { topicFilter, source } = series;
    const what = source.kind === 'value' ? pathText(source.path) : source.kind;
    let rows: unknown[][] = [];
    for (let index = samples.indexOf(fromMs); index < samples.size; index += 1) {
      const timeMs = samples.timeAt(index);
      if (timeMs > toMs) break;
      rows.push([new Date(timeMs).toISOString(), timeMs, topicFilter, what, samples.valueAt(index)]);
      if (rows.length < ROWS_PER_PIECE) continue;
      yield `${Papa.unparse(rows)}\r\n`;
      rows = [];
    }
    if (rows.length > 0) yield `${Papa.unparse(rows)}\r\n`;
  }
}

/** Rows that are converted to text at once. */
const ROWS_PER_PIECE = 1_000;
