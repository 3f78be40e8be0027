import { Button } from '@mantine/core';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Figure } from './figures.tsx';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

/** A deployment in numbers, as far as it counts: CloudWatch has the others. */
export function DeploymentFigures({ api }: { readonly api: AdminApi }) {
  const { t } = useTranslation();
  const ask = useCallback((signal: AbortSignal) => api.figures('stats', signal), [api]);
  const { value, error, refresh } = usePoll(ask, api.pollMs);
  const count = (name: string): string => formatCount(value?.[name] ?? 0);
  return (
    <>
      {error !== undefined && <Refusal error={error} />}
      {value !== undefined && (
        <dl className={classes.figures} aria-label={t('admin.figures')}>
          <Figure name={t('admin.clients')} value={count('live_connections.count')} />
          <Figure name={t('admin.sessions')} value={count('sessions.count')} />
        </dl>
      )}
      {error !== undefined && (
        <Button variant="default" size="xs" mb="md" onClick={refresh}>
          {t('admin.refresh')}
        </Button>
      )}
    </>
  );
}
