import { Button, Group, Select, Slider, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconPlayerTrackNext } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { LoggedMessage } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { SPARK_SAMPLES_MAX } from './limits.ts';
import { sparkNumber } from './spark-number.ts';
import classes from './tree-view.module.css';

const ICON = { size: 16, stroke: 1.5 } as const;

export const COMPARISONS = ['before', 'last'] as const;

/** The value that another is compared with. */
export type Comparison = (typeof COMPARISONS)[number];

interface ValueHistoryProps {
  readonly messages: readonly LoggedMessage[];
  /** Index of the one that is shown. */
  readonly shown: number;
  /** Whether new messages are shown as they come. */
  readonly isFollowing: boolean;
  readonly comparison: Comparison;
  readonly onShow: (index: number) => void;
  readonly onFollow: () => void;
  readonly onCompare: (comparison: Comparison) => void;
}

/** Goes back through the last values of a topic. */
export function ValueHistory(props: ValueHistoryProps) {
  const { messages, shown, isFollowing, comparison, onShow, onFollow, onCompare } = props;
  const last = messages.length - 1;
  const message = messages[shown];
  const nameOf = (index: number): string =>
    t('tree.valueOf', {
      number: index + 1,
      total: messages.length,
      time: formatTime(messages[index]?.atMs ?? 0),
    });
  if (message === undefined) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.history} role="group" aria-label={t('tree.history')}>
      <HistoryLine messages={messages} shown={shown} />
      <Group gap={6} wrap="nowrap">
        <IconButton label={t('tree.older')} disabled={shown === 0} onClick={() => onShow(shown - 1)}>
          <IconChevronLeft {...ICON} />
        </IconButton>
        <Slider
          flex={1}
          size="sm"
          min={0}
          max={last}
          value={shown}
          onChange={onShow}
          label={nameOf}
          thumbLabel={t('tree.historySlider')}
          thumbValueText={nameOf}
        />
        <IconButton label={t('tree.newer')} disabled={shown === last} onClick={() => onShow(shown + 1)}>
          <IconChevronRight {...ICON} />
        </IconButton>
      </Group>
      <Group gap={6} mt={4}>
        <Text size="xs" className={classes.number} data-testid="history-place">
          {nameOf(shown)}
        </Text>
        <Button
          variant={isFollowing ? 'light' : 'default'}
          size="compact-xs"
          aria-pressed={isFollowing}
          leftSection={<IconPlayerTrackNext size={14} stroke={1.5} />}
          onClick={onFollow}
        >
          {t('tree.follow')}
        </Button>
        <Select
          ml="auto"
          w={170}
          aria-label={t('tree.compareWith')}
          data={COMPARISONS.map((value) => ({ value, label: t(`tree.comparisons.${value}`) }))}
          value={comparison}
          onChange={(value) => onCompare(COMPARISONS.find((known) => known === value) ?? 'before')}
        />
      </Group>
    </div>
  );
}

/** The numbers of the last values, where they are numbers, with the one that is shown. */
function HistoryLine({ messages, shown }: Pick<ValueHistoryProps, 'messages' | 'shown'>) {
  const first = Math.max(0, Math.min(shown, messages.length - SPARK_SAMPLES_MAX));
  const { numbers, places } = useMemo(() => {
    const line: { numbers: number[]; places: number[] } = { numbers: [], places: [] };
    for (const [index, message] of messages.slice(first, first + SPARK_SAMPLES_MAX).entries()) {
      const number = sparkNumber(message);
      if (number === undefined) continue;
      line.numbers.push(number);
      line.places.push(first + index);
    }
    return line;
  }, [messages, first]);
  const marked = places.indexOf(shown);
  return <Sparkline values={numbers} isLarge {...(marked >= 0 && { marked })} />;
}
