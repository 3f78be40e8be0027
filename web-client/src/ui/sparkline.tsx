import { memo } from 'react';
import classes from './sparkline.module.css';

const WIDTH = 48;
const HEIGHT = 14;

/** A margin, so that the line is not cut at the edges. */
const MARGIN = 1.5;

interface SparklineProps {
  readonly values: readonly number[];
  /** The highlighted point. */
  readonly marked?: number;
  readonly isLarge?: boolean;
}

/** Numbers as a line without axes. It is hidden from screen readers: the numbers are beside it, or a click away. */
export const Sparkline = memo(function Sparkline({ values, marked, isLarge = false }: SparklineProps) {
  if (values.length < 2) return null;
  const at = placeOf(values);
  const points = values.map((value, index) => at(value, index).join());
  const mark = marked === undefined ? undefined : values[marked];
  const [x] = mark === undefined || marked === undefined ? [0] : at(mark, marked);
  return (
    <svg
      className={classes.spark}
      data-large={isLarge || undefined}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} />
      {mark !== undefined && <line x1={x} x2={x} y1={0} y2={HEIGHT} />}
    </svg>
  );
});

/** The vertical position of a value. A constant line is in the middle. */
function placeOf(values: readonly number[]): (value: number, index: number) => readonly [number, number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const range = most - least;
  const step = (WIDTH - 2 * MARGIN) / (values.length - 1);
  return (value, index) => {
    const part = range === 0 ? 0.5 : (value - least) / range;
    const y = HEIGHT - MARGIN - part * (HEIGHT - 2 * MARGIN);
    return [Math.round((MARGIN + index * step) * 10) / 10, Math.round(y * 10) / 10];
  };
}
