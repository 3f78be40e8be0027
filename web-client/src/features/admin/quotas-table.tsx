import type { QuotaLine } from '@apus/api';
import { Progress, Text } from '@mantine/core';
import { formatExact } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { boundsWords } from './bounds-strings.ts';
import { SystemsTable } from './systems-table.tsx';

/** From this share of a quota on the table warns. */
const NEARLY_FULL = 0.8;

/** The limits of the shown tenant, of its identities, and of all tenants together. */
export function QuotasTable({ api }: { readonly api: AdminApi }) {
  return (
    <SystemsTable<QuotaLine>
      api={api}
      path="/quotas"
      label="Quotas"
      columns={(['scope', 'name', 'used', 'max'] as const).map((name) => boundsWords.quotas.columns[name])}
      empty="Nothing is bounded."
      row={(quota) => <QuotaRow key={`${quota.scope} ${quota.name}`} quota={quota} />}
    />
  );
}

function QuotaRow({ quota }: { readonly quota: QuotaLine }) {
  const { scope, name, max, used } = quota;
  return (
    <tr>
      <td>{boundsWords.quotas.scopes[scope]}</td>
      <th scope="row">{(boundsWords.quotas.names as Readonly<Record<string, string>>)[name] ?? name}</th>
      <td className={classes.number}>
        {used === null ? (
          <Text span inherit c="dimmed">
            {scope === 'identity' ? 'each for itself' : 'not counted here'}
          </Text>
        ) : (
          <Used quota={quota} used={used} />
        )}
      </td>
      <td className={classes.number}>{formatExact(max)}</td>
    </tr>
  );
}

function Used({ quota: { max }, used }: { readonly quota: QuotaLine; readonly used: number }) {
  const share = used / max;
  return (
    <>
      {formatExact(used)}
      <Progress
        value={Math.min(100, share * 100)}
        color={share >= NEARLY_FULL ? 'red' : 'teal'}
        size="sm"
        mt={2}
        aria-label={`${formatExact(used)} of ${formatExact(max)}`}
      />
    </>
  );
}
