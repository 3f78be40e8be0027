import { billOf, type GivenWorkload, usdText } from '@apus/cost';
import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useActiveConnection, useActiveProfile, useStatus } from '../../state/hooks.ts';
import { formatBytes, formatCount, formatDuration, formatSeconds } from '../../ui/format.ts';
import classes from './costs-view.module.css';
import { OBSERVED_MS_ENOUGH, type Observed, observe, workloadOf } from './observe.ts';

/** The traffic of the connection shown, and the messages that API Gateway has billed for it. */
export function ObservedCard({
  onTake,
}: {
  readonly onTake: (workload: GivenWorkload, observed: Observed) => void;
}) {
  const { t } = useTranslation();
  const connection = useActiveConnection();
  const { url = '' } = useActiveProfile() ?? {};
  const { traffic, door } = useStatus(connection?.id);
  const observed = connection && observe(connection.messages, Date.now());
  const { gateway } = traffic;
  return (
    <section className={classes.card} aria-label={t('costs.observed')}>
      <Text component="h3" className={classes.heading}>
        {t('costs.observed')}
      </Text>
      <Text size="xs" mb="xs">
        {observed === undefined
          ? t('costs.observedNone')
          : t('costs.observedText', {
              duration: formatDuration(observed.spanMs),
              published: formatCount(observed.publishedPerHour),
              received: formatCount(observed.receivedPerHour),
              bytes: formatBytes(observed.payloadBytes),
            })}
      </Text>
      {observed !== undefined && observed.spanMs < OBSERVED_MS_ENOUGH && (
        <Text size="xs" mb="xs" c="var(--mantine-color-error)">
          {t('costs.observedLittle', restOf(observed))}
        </Text>
      )}
      <Button
        variant="default"
        disabled={observed === undefined}
        onClick={() => observed !== undefined && onTake(workloadOf(observed), observed)}
      >
        {t('costs.take')}
      </Button>
      {gateway !== undefined && (
        <Text size="xs" mt="xs" data-testid="costs-so-far">
          {t(isBilled(url) ? 'costs.soFarText' : 'costs.wouldText', {
            messages: formatCount(gateway.messagesBilled),
            frames: formatCount(gateway.framesSent + gateway.framesReceived),
            usd: usdText(billOf({ gatewayMessagesIn: gateway.messagesBilled }).usd),
          })}
        </Text>
      )}
      {door === 'node' && (
        <Text size="xs" c="dimmed" mt="xs">
          {t('costs.soFarNode')}
        </Text>
      )}
    </section>
  );
}

/** AWS only serves `wss:`: a server at `ws:` is an emulator, which sends no bill. */
function isBilled(url: string): boolean {
  return url.startsWith('wss:');
}

/** A sentence on how short the observation is. */
export function restOf({ spanMs, messages }: Observed): {
  readonly duration: string;
  readonly count: number;
} {
  return { duration: formatSeconds(spanMs), count: messages };
}
