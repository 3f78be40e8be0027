import { Button } from '@mantine/core';
import { formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi, TenantEntry } from './admin-api.ts';
import classes from './admin-view.module.css';
import { PagedTable } from './paged-table.tsx';
import { tenantsWords } from './tenants-strings.ts';

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
      label="Tenants"
      path="/tenants"
      columns={[
        { label: 'Name', sortKey: ({ name }) => name },
        { label: 'State', sortKey: ({ state }) => state },
        { label: 'Reason', sortKey: ({ reason }) => reason },
        { label: 'Since', sortKey: ({ createdAt }) => createdAt },
        { label: 'Action' },
      ]}
      empty="There are no tenants but “default”."
      row={({ name, state, reason, createdAt }) => (
        <tr key={name} data-offline={state === 'suspended' || undefined}>
          <th scope="row" className={classes.name}>
            {name}
          </th>
          <td>{tenantsWords.states[state]}</td>
          <td>{visibleText(reason ?? '–')}</td>
          <td className={classes.time}>{formatDateTime(Date.parse(createdAt))}</td>
          <td className={classes.action}>
            <Button
              variant="default"
              size="compact-xs"
              aria-label={`Show ${name}`}
              onClick={() => look(name)}
            >
              Show
            </Button>
          </td>
        </tr>
      )}
    />
  );
}
