import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatCount, formatDuration } from '../../ui/format.ts';
import type { FiledMessage } from './message-record.ts';
import { type Pace, replayDurationMs } from './replay.ts';
import { ReplayProgressBar } from './replay-progress.tsx';
import { beginReplay, useTransfer } from './transfer-store.ts';
import classes from './transfer-view.module.css';

const DIRECTIONS = ['all', 'received', 'published'] as const;

/** Paces by what they are called; the rate has a field of its own. */
const PACES = {
  original: { kind: 'original', factor: 1 },
  slow: { kind: 'original', factor: 0.5 },
  double: { kind: 'original', factor: 2 },
  tenfold: { kind: 'original', factor: 10 },
  hundredfold: { kind: 'original', factor: 100 },
  fast: { kind: 'fast' },
} as const satisfies Readonly<Record<string, Pace>>;

type PaceName = keyof typeof PACES | 'rate';

const PACE_NAMES = ['original', 'slow', 'double', 'tenfold', 'hundredfold', 'rate', 'fast'] as const;

const RATE_MAX = 5_000;

interface ChosenPace {
  readonly name: PaceName;
  /** The rate, for the pace of that name. */
  readonly perSecond: number;
}

function paceOf({ name, perSecond }: ChosenPace): Pace {
  return name === 'rate' ? { kind: 'rate', perSecond } : PACES[name];
}

interface ReplayFormProps {
  readonly messages: readonly FiledMessage[];
  readonly profile: ConnectionProfile;
}

/** Which messages are published again, how fast and where; and how far that is. */
export function ReplayForm({ messages, profile }: ReplayFormProps) {
  const { t } = useTranslation();
  const { phase } = useStatus(profile.id);
  const replay = useTransfer((state) => state.replay);
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('all');
  const hasTimes = messages.every(({ atMs }) => atMs !== undefined);
  const [chosenPace, setChosenPace] = useState<ChosenPace>({
    name: hasTimes ? 'original' : 'rate',
    perSecond: 10,
  });
  const [topicPrefix, setTopicPrefix] = useState('');
  const [keepsRetain, setKeepsRetain] = useState(true);
  const chosen = useMemo(
    () => messages.filter((message) => direction === 'all' || message.direction === direction),
    [messages, direction],
  );
  const pace = paceOf(chosenPace);
  const durationMs = replayDurationMs(chosen, pace);
  const isPrefixWrong = /[+#\0]/.test(topicPrefix);
  const isRunning = replay?.progress.state === 'running';
  return (
    <>
      <Text size="xs" mt="xs" fw={600}>
        {t('transfer.replay')}
      </Text>
      <Text size="xs" c="dimmed">
        {t('transfer.replayOver', { name: profile.name })}
      </Text>
      <SegmentedControl
        mt="xs"
        aria-label={t('transfer.which')}
        data={DIRECTIONS.map((value) => ({ value, label: t(`transfer.directions.${value}`) }))}
        value={direction}
        onChange={(value) => setDirection(DIRECTIONS.find((known) => known === value) ?? 'all')}
      />
      <div className={classes.fields} data-top>
        <PaceFields hasTimes={hasTimes} pace={chosenPace} onChange={setChosenPace} />
        <TextInput
          label={t('transfer.prefix')}
          description={t('transfer.prefixHint')}
          spellCheck={false}
          error={isPrefixWrong && t('transfer.prefixWrong')}
          value={topicPrefix}
          onChange={(event) => setTopicPrefix(event.currentTarget.value)}
        />
        <Checkbox
          w="100%"
          label={t('transfer.keepRetain')}
          checked={keepsRetain}
          onChange={(event) => setKeepsRetain(event.currentTarget.checked)}
        />
      </div>
      <Group gap="xs">
        <Button
          leftSection={<IconPlayerPlay size={14} stroke={1.5} />}
          disabled={chosen.length === 0 || isPrefixWrong || isRunning || phase !== 'connected'}
          onClick={() => beginReplay(profile.id, { messages: chosen, pace, topicPrefix, keepsRetain })}
        >
          {t('transfer.start', { count: chosen.length, shown: formatCount(chosen.length) })}
        </Button>
        <Text size="xs" c="dimmed">
          {phase === 'connected'
            ? durationMs !== undefined && t('transfer.takes', { duration: formatDuration(durationMs) })
            : t('transfer.notConnected', { name: profile.name })}
        </Text>
      </Group>
      {replay !== undefined && <ReplayProgressBar replay={replay} />}
    </>
  );
}

interface PaceFieldsProps {
  /** The messages have times, so they can be sent at the pace at which they came. */
  readonly hasTimes: boolean;
  readonly pace: ChosenPace;
  readonly onChange: (pace: ChosenPace) => void;
}

function PaceFields({ hasTimes, pace, onChange }: PaceFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <Select
        label={t('transfer.pace')}
        w={250}
        data={PACE_NAMES.map((value) => ({
          value,
          label: t(`transfer.paces.${value}`),
          disabled: !hasTimes && value !== 'rate' && value !== 'fast',
        }))}
        description={hasTimes ? undefined : t('transfer.noTimes')}
        value={pace.name}
        onChange={(value) =>
          onChange({ ...pace, name: PACE_NAMES.find((known) => known === value) ?? 'original' })
        }
      />
      {pace.name === 'rate' && (
        <NumberInput
          label={t('transfer.rate')}
          w={110}
          min={1}
          max={RATE_MAX}
          clampBehavior="strict"
          value={pace.perSecond}
          onChange={(value) => onChange({ ...pace, perSecond: Math.max(1, Number(value) || 1) })}
        />
      )}
    </>
  );
}
