import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connections } from '../state/connections.ts';
import { useActiveProfile, useStatus } from '../state/hooks.ts';
import { connectProfile } from '../state/profiles.ts';
import { useTrouble } from '../ui/trouble.ts';
import classes from './connection-banner.module.css';

/** Shown above every view while the connection has failed or waits for another attempt: the reason and advice. */
export function ConnectionBanner() {
  const { t } = useTranslation();
  const id = useActiveProfile()?.id;
  const { phase, trouble, attempts, retryAtMs } = useStatus(id);
  const words = useTrouble();
  const isWaiting = phase === 'waiting' || (attempts > 0 && phase !== 'connected' && phase !== 'failed');
  if (id === undefined || trouble === undefined || !(phase === 'failed' || isWaiting)) return null;
  const { title, advice, detail } = words(trouble);
  return (
    <Alert
      color="red"
      variant="light"
      radius={0}
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      className={classes.banner}
      role="alert"
    >
      <Group gap="xs" justify="space-between">
        <div className={classes.words}>
          <Text size="sm" fw={650} component="span">
            {title}
          </Text>
          {advice !== '' && (
            <Text size="sm" component="span">
              {` · ${advice}`}
            </Text>
          )}
          {detail !== '' && (
            <Text size="xs" ff="monospace">
              {detail}
            </Text>
          )}
        </div>
        <Group gap="xs" wrap="nowrap">
          {phase === 'waiting' && retryAtMs !== undefined && <Countdown untilMs={retryAtMs} />}
          {phase === 'waiting' && (
            <Button variant="default" size="compact-xs" onClick={() => connections.get(id).retry()}>
              {t('connections.tryNow')}
            </Button>
          )}
          {phase === 'failed' && (
            <Button variant="default" size="compact-xs" onClick={() => connectProfile(id)}>
              {t('connections.tryNow')}
            </Button>
          )}
        </Group>
      </Group>
    </Alert>
  );
}

const TICK_MS = 500;

/** Screen readers do not read it each second: the alert has said everything. */
function Countdown({ untilMs }: { readonly untilMs: number }) {
  const { t } = useTranslation();
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((untilMs - nowMs) / 1_000));
  return (
    <Text size="xs" aria-hidden className={classes.countdown}>
      {t('connections.retryIn', { seconds })}
    </Text>
  );
}
