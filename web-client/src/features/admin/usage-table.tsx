import { Button, Group, SegmentedControl } from '@mantine/core';
import { useCallback, useState } from 'react';
import { formatBytes, formatCount, formatRate } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { RateGraph } from './rate-graph.tsx';
import { Refusal } from './refusal.tsx';
import { Table } from './table.tsx';
import { tenantsWords } from './tenants-strings.ts';
import { byTenant, pointsOf, questionOf, type TenantUsage, USAGE_STEPS, type UsageStep } from './usage.ts';
import { usePoll } from './use-poll.ts';

const COLUMNS = ['tenant', 'hours', 'messagesIn', 'messagesOut', 'bytesIn', 'bytesOut'] as const;

const FORMATS: Readonly<Record<UsageStep, Intl.DateTimeFormat>> = {
  hour: new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
};

/** A node's usage changes every ten seconds. */
const POLL_MS = 10_000;

/** The usage of tenants: over time, and each in numbers. */
export function UsageTable({ api }: { readonly api: AdminApi }) {
  const [step, setStep] = useState<UsageStep>('hour');
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const nowMs = Date.now();
      const lines = await api.usage(questionOf(step, nowMs), signal);
      const points = pointsOf(lines, step, nowMs);
      return {
        tenants: byTenant(lines),
        times: points.map(({ atMs }) => atMs),
        lines: [
          { label: 'Messages in', values: points.map(({ messagesIn }) => messagesIn) },
          { label: 'Messages out', values: points.map(({ messagesOut }) => messagesOut) },
        ],
      };
    },
    [api, step],
  );
  const { value, error, refresh } = usePoll(ask, api.isDeployment ? undefined : POLL_MS);
  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          aria-label="Time of a point"
          value={step}
          onChange={(chosen) => setStep(chosen as UsageStep)}
          data={USAGE_STEPS.map((value) => ({ value, label: tenantsWords.usage.steps[value] }))}
        />
        {api.isDeployment && (
          <Button variant="default" size="xs" onClick={refresh}>
            Ask again
          </Button>
        )}
      </Group>
      {error !== undefined && <Refusal error={error} />}
      {value !== undefined && (
        <RateGraph
          label="Messages of all tenants over time"
          unit="Messages"
          times={value.times}
          lines={value.lines}
          timeFormat={FORMATS[step]}
        />
      )}
      <Table
        label="Usage by tenant"
        columns={COLUMNS.map((name) => tenantsWords.usage.columns[name])}
        empty={value?.tenants.length === 0 ? 'Nothing has been used in this time.' : undefined}
      >
        {value?.tenants.map((usage) => (
          <UsageRow key={usage.tenant} usage={usage} />
        ))}
      </Table>
    </>
  );
}

function UsageRow({ usage }: { readonly usage: TenantUsage }) {
  return (
    <tr>
      <th scope="row" className={classes.name}>
        {visibleText(usage.tenant)}
      </th>
      <td className={classes.number}>{formatRate(usage.connectionHours)}</td>
      <td className={classes.number}>{formatCount(usage.messagesIn)}</td>
      <td className={classes.number}>{formatCount(usage.messagesOut)}</td>
      <td className={classes.number}>{formatBytes(usage.bytesIn)}</td>
      <td className={classes.number}>{formatBytes(usage.bytesOut)}</td>
    </tr>
  );
}
