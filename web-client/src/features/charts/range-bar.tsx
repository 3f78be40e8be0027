import { Button, RangeSlider, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatDuration, formatTime } from '../../ui/format.ts';
import type { TimeRange } from './chart-window.ts';
import classes from './charts-view.module.css';

/** Steps of the slider over the whole window: each key moves it by one. The mouse selects more finely. */
const STEPS = 100;

interface RangeBarProps {
  readonly selected: TimeRange;
  /** The whole window. */
  readonly whole: TimeRange;
  readonly onSelect: (range: TimeRange) => void;
  readonly onClear: () => void;
}

/** The selected range in words; it can be changed by key as well as by mouse. */
export function RangeBar({ selected, whole, onSelect, onClear }: RangeBarProps) {
  const { t } = useTranslation();
  const length = whole.toMs - whole.fromMs;
  const stepOf = (atMs: number): number => Math.round(((atMs - whole.fromMs) / length) * STEPS);
  const timeOf = (step: number): number => whole.fromMs + (step / STEPS) * length;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.range} role="group" aria-label={t('charts.range.title')}>
      <Text size="xs" role="status" className={classes.rangeText}>
        {t('charts.range.selected', {
          from: formatTime(selected.fromMs),
          to: formatTime(selected.toMs),
          length: formatDuration(selected.toMs - selected.fromMs),
        })}
      </Text>
      <RangeSlider
        className={classes.rangeSlider}
        size="sm"
        max={STEPS}
        minRange={1}
        label={(step) => formatTime(timeOf(step))}
        thumbFromLabel={t('charts.range.from')}
        thumbToLabel={t('charts.range.to')}
        value={[stepOf(selected.fromMs), stepOf(selected.toMs)]}
        onChange={([from, to]) => onSelect({ fromMs: timeOf(from), toMs: timeOf(to) })}
      />
      <Button variant="default" size="compact-xs" onClick={onClear}>
        {t('charts.range.clear')}
      </Button>
    </div>
  );
}
