import { pathWith } from '@apus/api/path';
import { Drawer, Text } from '@mantine/core';
import { useCallback } from 'react';
import { useActiveProfile } from '../../state/hooks.ts';
import { useChartThis } from '../charts/use-chart-this.ts';
import { PayloadView } from '../decode/payload-view.tsx';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

interface RetainedDrawerProps {
  readonly api: AdminApi;
  readonly topic: string;
  readonly close: () => void;
}

/** The payload of a retained message, as it was when it was opened. */
export function RetainedDrawer({ api, topic, close }: RetainedDrawerProps) {
  const profile = useActiveProfile();
  const chartThis = useChartThis();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const path = pathWith('/mqtt/retainer/message/:topic', { topic });
      const { payload } = await api.get<{ readonly payload: string }>(path, {}, signal);
      return Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    },
    [api, topic],
  );
  const { value, error } = usePoll(ask, undefined);
  return (
    <Drawer opened onClose={close} position="right" size={520} title={`Retained message of ${topic}`}>
      {error?.status === 404 && <Text size="sm">No message is retained for this topic any more.</Text>}
      {error !== undefined && error.status !== 404 && <Refusal error={error} />}
      {value !== undefined && (
        <div className={classes.payload}>
          <PayloadView
            topic={topic}
            payload={value}
            previous={undefined}
            onChart={(path) => profile && chartThis(profile.id, topic, { kind: 'value', path })}
          />
        </div>
      )}
    </Drawer>
  );
}
