import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { IconBolt, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { BurstProgress, ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { connections } from '../../state/connections.ts';
import type { Draft } from '../../state/draft.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatCount } from '../../ui/format.ts';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { propertiesOf } from './draft-request.ts';

/** The most messages of one burst, and the highest rate: loadtest/ sends more. */
const COUNT_MAX = 1_000_000;
const RATE_MAX = 20_000;

interface BurstSectionProps {
  readonly profile: ConnectionProfile;
  readonly draft: Draft;
}

/** Publishes the message many times. */
export function BurstSection({ profile, draft }: BurstSectionProps) {
  const { phase } = useStatus(profile.id);
  const [count, setCount] = useState(100);
  const [ratePerSecond, setRate] = useState(20);
  const [progress, setProgress] = useState<BurstProgress>();
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  const isRunning = progress !== undefined && !progress.done;
  const start = (): void => {
    const { topic, payload, qos, retain } = draft;
    const properties = profile.protocolVersion === 5 ? propertiesOf(draft.properties) : undefined;
    setProgress({ sent: 0, failed: 0, done: false });
    stop.current = connections
      .get(profile.id)
      .burst({ topic, payload, qos, retain, count, ratePerSecond, properties }, setProgress);
  };
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {t('publish.burst.explain')}
      </Text>
      <Group gap="xs" align="flex-end">
        <OptionalNumberInput
          flex="1 1 100px"
          label={t('publish.burst.count')}
          min={1}
          max={COUNT_MAX}
          value={count}
          onChange={(entered) => setCount(entered ?? 1)}
        />
        <OptionalNumberInput
          flex="1 1 100px"
          label={t('publish.burst.rate')}
          min={1}
          max={RATE_MAX}
          value={ratePerSecond}
          onChange={(entered) => setRate(entered ?? 1)}
        />
        {isRunning ? (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={16} stroke={1.5} />}
            onClick={() => stop.current()}
          >
            {t('publish.burst.stop')}
          </Button>
        ) : (
          <Button
            leftSection={<IconBolt size={16} stroke={1.5} />}
            disabled={phase !== 'connected' || draft.topic === ''}
            onClick={start}
          >
            {t('publish.burst.start')}
          </Button>
        )}
      </Group>
      {progress !== undefined && (
        <>
          <Progress
            value={((progress.sent + progress.failed) * 100) / count}
            color={progress.failed > 0 ? 'red' : 'indigo'}
            aria-label={t('publish.burst.label')}
          />
          <Text size="xs" role="status">
            {t('publish.burst.progress', {
              sent: formatCount(progress.sent),
              total: formatCount(count),
              failed: formatCount(progress.failed),
            })}
          </Text>
        </>
      )}
    </Stack>
  );
}
