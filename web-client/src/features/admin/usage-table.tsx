import { Button, Group, SegmentedControl } from '@mantine/core';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes, formatCount, formatRate } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Refusal } from './refusal.tsx';
import { byTenant, pointsOf, questionOf, type TenantUsage, USAGE_STEPS, type UsageStep } from './usage.ts';
import { UsageGraph } from './usage-graph.tsx';
import { usePoll } from './use-poll.ts';

const COLUMNS = ['tenant', 'hours', 'messagesIn', 'messagesOut', 'bytesIn', 'bytesOut'] as const;

/** A node's usage changes every ten seconds. */
const POLL_MS = 10_000;

/** The usage of tenants: over time, and each in numbers. */
export function UsageTable({ api }: { readonly api: AdminApi }) {
  const { t } = useTranslation();
  const [step, setStep] = useState<UsageStep>('hour');
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const nowMs = Date.now();
      const lines = await api.usage(questionOf(step, nowMs), signal);
      return { tenants: byTenant(lines), points: pointsOf(lines, step, nowMs) };
    },
    [api, step],
  );
  const { value, error, refresh } = usePoll(ask, api.isDeployment ? undefined : POLL_MS);
  const label = t('admin.tenants.usage.table');
  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          aria-label={t('admin.tenants.usage.step')}
          value={step}
          onChange={(chosen) => setStep(chosen as UsageStep)}
          data={USAGE_STEPS.map((value) => ({ value, label: t(`admin.tenants.usage.steps.${value}`) }))}
        />
        {api.isDeployment && (
          <Button variant="default" size="xs" onClick={refresh}>
            {t('admin.refresh')}
          </Button>
        )}
      </Group>
      {error !== undefined && <Refusal error={error} />}
      {value !== undefined && <UsageGraph points={value.points} step={step} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a phone, and must do so by key */}
      <div className={classes.scroll} role="group" tabIndex={0} aria-label={label}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th key={name} scope="col">
                  {t(`admin.tenants.usage.columns.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value?.tenants.map((usage) => (
              <UsageRow key={usage.tenant} usage={usage} />
            ))}
            {value?.tenants.length === 0 && (
              <tr>
                <td colSpan={COLUMNS.length}>{t('admin.tenants.usage.empty')}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
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
