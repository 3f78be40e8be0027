import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import classes from './plot.module.css';

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

/** The colours of everything but the lines. */
export interface PlotColors {
  readonly text: string;
  readonly grid: string;
  readonly background: string;
  /** The colours of the lines, in order; each differs from its background and its neighbours. */
  readonly lines: readonly string[];
}

const LIGHT: PlotColors = {
  text: '#5b626a',
  grid: '#e3e6ea',
  background: '#ffffff',
  lines: [
    '#364fc7',
    '#c2410c',
    '#0b7285',
    '#a61e4d',
    '#2b8a3e',
    '#7048e8',
    '#996000',
    '#495057',
    '#1971c2',
    '#e03131',
    '#087f5b',
    '#9c36b5',
  ],
};

const DARK: PlotColors = {
  text: '#a3a8b3',
  grid: '#2e323b',
  background: '#16181d',
  lines: [
    '#91a7ff',
    '#ffa94d',
    '#66d9e8',
    '#faa2c1',
    '#8ce99a',
    '#b197fc',
    '#ffe066',
    '#ced4da',
    '#74c0fc',
    '#ff8787',
    '#63e6be',
    '#e599f7',
  ],
};

export function usePlotColors(): PlotColors {
  return useComputedColorScheme('light') === 'dark' ? DARK : LIGHT;
}

interface PlotProps {
  /** Describes the plot to screen readers. The numbers themselves belong in a table beside it. */
  readonly label: string;
  /** Other options create another plot: use the same object while they are the same. */
  readonly options: PlotOptions;
  readonly data: uPlot.AlignedData;
  /** Called with each created plot, for callers that set its data themselves. */
  readonly onPlot?: ((plot: uPlot | undefined) => void) | undefined;
}

/** uPlot in a box that it fills. */
export function Plot({ label, options, data, onPlot }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = { width: element.clientWidth, height: element.clientHeight };
    const made = new uPlot({ ...options, ...size }, latest.current, element);
    plot.current = made;
    onPlot?.(made);
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      onPlot?.(undefined);
      plot.current = undefined;
      made.destroy();
    };
  }, [options, onPlot]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div ref={box} role="img" aria-label={label} className={classes.plot} />;
}

/** The axes as both themes have them. */
export function plotAxis(colors: PlotColors, axis: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: colors.text,
    font: '11px "Inter Variable", system-ui, sans-serif',
    labelFont: '11px "Inter Variable", system-ui, sans-serif',
    labelSize: 18,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { stroke: colors.grid, width: 1, size: 4 },
    ...axis,
  };
}
