import { Button } from '@mantine/core';
import { t } from '../../i18n/index.ts';
import { formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi, TenantEntry } from './admin-api.ts';
import classes from './admin-view.module.css';
import { PagedTable } from './paged-table.tsx';

interface TenantsTableProps {
  readonly api: AdminApi;
  /** Shows the clients and messages of a tenant in the other tables. */
  readonly look: (tenant: string) => void;
}

/** The register of tenants. */
export function TenantsTable({ api, look }: TenantsTableProps) {
  return (
    <PagedTable<TenantEntry>
      api={api}
      label={t('admin.tenants.tab')}
      path="/tenants"
      columns={[
        { label: t('admin.tenants.columns.name'), sortKey: ({ name }) => name },
        { label: t('admin.tenants.columns.state'), sortKey: ({ state }) => state },
        { label: t('admin.tenants.columns.reason'), sortKey: ({ reason }) => reason },
        { label: t('admin.tenants.columns.since'), sortKey: ({ createdAt }) => createdAt },
        { label: t('admin.tenants.columns.action') },
      ]}
      empty={t('admin.tenants.empty')}
      row={({ name, state, reason, createdAt }) => (
        <tr key={name} data-offline={state === 'suspended' || undefined}>
          <th scope="row" className={classes.name}>
            {name}
          </th>
          <td>{t(`admin.tenants.states.${state}`)}</td>
          <td>{visibleText(reason ?? '–')}</td>
          <td className={classes.time}>{formatDateTime(Date.parse(createdAt))}</td>
          <td className={classes.action}>
            <Button
              variant="default"
              size="compact-xs"
              aria-label={t('admin.tenants.look', { name })}
              onClick={() => look(name)}
            >
              {t('admin.tenants.lookShort')}
            </Button>
          </td>
        </tr>
      )}
    />
  );
}
