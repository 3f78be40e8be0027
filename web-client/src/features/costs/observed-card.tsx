import { billOf, type GivenWorkload, usdText } from '@apus/cost';
import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useActiveConnection, useStatus } from '../../state/hooks.ts';
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts';
import classes from './costs-view.module.css';
import { observe, workloadOf } from './observe.ts';

/** What the connection that is shown does, and what API Gateway has billed for it. */
export function ObservedCard({ onTake }: { readonly onTake: (workload: GivenWorkload) => void }) {
  const { t } = useTranslation();
  const connection = useActiveConnection();
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
      <Button
        variant="default"
        disabled={observed === undefined}
        onClick={() => observed !== undefined && onTake(workloadOf(observed))}
      >
        {t('costs.take')}
      </Button>
      {gateway !== undefined && (
        <Text size="xs" mt="xs" data-testid="costs-so-far">
          {t('costs.soFarText', {
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
