import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { endOfToken, WARNING_MS } from '../engine/token-end.ts';
import type { Trouble } from '../engine/types.ts';
import { connections } from '../state/connections.ts';
import { useActiveProfile, useStatus } from '../state/hooks.ts';
import { connectProfile } from '../state/profiles.ts';
import { secretsOf } from '../state/secrets.ts';
import { formatDateTime } from '../ui/format.ts';
import { troubleWords } from '../ui/trouble.ts';
import classes from './connection-banner.module.css';

const TokenNotice = lazy(async () => ({
  default: (await import('../features/connections/token-notice.tsx')).TokenNotice,
}));

const SignIn = lazy(async () => ({ default: (await import('../features/connections/sign-in.tsx')).SignIn }));

/** Shown above every view while the connection has failed or waits for another attempt: the reason and advice. */
export function ConnectionBanner() {
  const profile = useActiveProfile();
  const id = profile?.id;
  const [asksFor, setAsksFor] = useState<string>();
  const endsAtMs = endOfToken(id === undefined ? undefined : secretsOf(id).token);
  const nowMs = useNow(endsAtMs !== undefined);
  const { phase, trouble, attempts, retryAtMs } = useStatus(id);
  if (phase === 'connected' && id !== undefined && endsAtMs !== undefined && endsAtMs - nowMs < WARNING_MS)
    return (
      <Suspense>
        <TokenNotice key={`${id} ${endsAtMs}`} id={id} endsAtMs={endsAtMs} />
      </Suspense>
    );
  const isWaiting = phase === 'waiting' || (attempts > 0 && phase !== 'connected' && phase !== 'failed');
  if (
    profile === undefined ||
    id === undefined ||
    trouble === undefined ||
    !(phase === 'failed' || isWaiting)
  )
    return null;
  const hasTokenEnded = endsAtMs !== undefined && endsAtMs <= nowMs;
  const { title, advice, detail } = hasTokenEnded
    ? {
        title: `The token ended at ${formatDateTime(endsAtMs)}`,
        advice: 'The server takes this connection no longer. Enter a new token.',
        detail: '',
      }
    : troubleWords(trouble);
  const asks = hasTokenEnded || isRefused(trouble) || asksFor === id;
  const { password, token } = secretsOf(id);
  const isAnonymous = profile.username === '' && password === undefined && token === undefined;
  const told = isAnonymous && isRefused(trouble) ? 'Sign in: this connection has no credentials.' : advice;
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
          {told !== '' && (
            <Text size="sm" component="span">
              {` · ${told}`}
            </Text>
          )}
          {detail !== '' && (
            <Text size="xs" ff="monospace">
              {detail}
            </Text>
          )}
        </div>
        <Group gap="xs" wrap="nowrap">
          {!asks && trouble.kind === 'closed' && (
            <Button variant="default" size="compact-xs" onClick={() => setAsksFor(id)}>
              Sign in …
            </Button>
          )}
          {phase === 'waiting' && retryAtMs !== undefined && <Countdown untilMs={retryAtMs} />}
          {phase === 'waiting' && (
            <Button variant="default" size="compact-xs" onClick={() => connections.get(id).retry()}>
              Try now
            </Button>
          )}
          {phase === 'failed' && (
            <Button variant="default" size="compact-xs" onClick={() => connectProfile(id)}>
              Try now
            </Button>
          )}
        </Group>
      </Group>
      {asks && (
        <Suspense>
          <SignIn key={id} profile={profile} />
        </Suspense>
      )}
    </Alert>
  );
}

/** The time, looked at every few seconds while a token is running out. */
function useNow(isWanted: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(() => setNowMs(Date.now()), LOOK_MS);
    return () => clearInterval(timer);
  }, [isWanted]);
  return nowMs;
}

const LOOK_MS = 1_000;

/** Reason codes of a broker that wants other credentials, or some (4.8, 4.12). */
const CREDENTIALS = new Set([0x86, 0x87, 0x8c]);

function isRefused({ kind, code }: Trouble): boolean {
  return kind === 'reason' && code !== undefined && CREDENTIALS.has(code);
}

const TICK_MS = 500;

/** Screen readers do not read it each second: the alert has said everything. */
function Countdown({ untilMs }: { readonly untilMs: number }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((untilMs - nowMs) / 1_000));
  return (
    <Text size="xs" aria-hidden className={classes.countdown}>
      {`Next try in ${seconds} s`}
    </Text>
  );
}
