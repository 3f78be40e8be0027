import { Button, Group, Tabs, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { AdminApi } from './admin-api.ts';
import { AlarmsTables } from './alarms.tsx';
import { BansTable } from './bans-table.tsx';
import { ClientsTable } from './clients-table.tsx';
import { EventsTable } from './events-table.tsx';
import { MonthPrice } from './month-price.tsx';
import { QuotasTable } from './quotas-table.tsx';
import { RetainedTable } from './retained-table.tsx';
import { SlowTables } from './slow-tables.tsx';
import { StreamsTable } from './streams-table.tsx';
import { SubscriptionsTable } from './subscriptions-table.tsx';
import { SystemsTables } from './systems-table.tsx';
import { TenantsTable } from './tenants-table.tsx';
import { TracePanel } from './trace-panel.tsx';
import { UsageTable } from './usage-table.tsx';
import { UsersTable } from './users-table.tsx';

interface BrokerTabsProps {
  readonly api: AdminApi;
  readonly tenant: string | undefined;
  /** Undefined: the default tenant. */
  readonly setTenant: (tenant: string | undefined) => void;
}

/** Tables that keep their search and what was ticked while another one is shown: they go on asking the broker. */
const KEPT = ['clients', 'subscriptions', 'retained', 'trace'];

/** The tables of a broker: those that its door supports, and tenants if it has a register. */
export function BrokerTabs({ api, tenant, setTenant }: BrokerTabsProps) {
  const [tab, setTab] = useState<string | null>('clients');
  const look = (name: string): void => {
    setTenant(name);
    setTab('clients');
  };
  const panels: readonly (readonly [name: string, title: string, panel: ReactNode])[] = [
    ['clients', 'Clients', <ClientsTable key="clients" api={api} />],
    ['slow', 'Slow clients', <SlowTables key="slow" api={api} />],
    ['events', 'Events', <EventsTable key="events" api={api} />],
    ['subscriptions', 'Subscriptions', <SubscriptionsTable key="subscriptions" api={api} />],
    ['retained', 'Retained messages', <RetainedTable key="retained" api={api} />],
    ['streams', 'Streams', <StreamsTable key="streams" api={api} />],
    ['bans', 'Bans', <BansTable key="bans" api={api} />],
    ['users', 'Users', <UsersTable key="users" api={api} />],
    ['systems', 'Bridges and rules', <SystemsTables key="systems" api={api} />],
    ['quotas', 'Quotas', <QuotasTable key="quotas" api={api} />],
    ['trace', 'Log trace', <TracePanel key="trace" api={api} />],
    ['alarms', 'Alarms', <AlarmsTables key="alarms" api={api} />],
    ['price', 'Price', <MonthPrice key="price" api={api} />],
    ...(api.hasTenants
      ? ([
          ['tenants', 'Tenants', <TenantsTable key="tenants" api={api} look={look} />],
          ['usage', 'Usage', <UsageTable key="usage" api={api} />],
        ] as const)
      : []),
  ];
  return (
    <>
      {tenant !== undefined && (
        <Group gap="xs" mb="xs">
          <Text size="sm" role="status">
            {`Shown is the tenant “${tenant}”.`}
          </Text>
          <Button variant="default" size="compact-xs" onClick={() => setTenant(undefined)}>
            Show “default”
          </Button>
        </Group>
      )}
      <Tabs value={tab} onChange={setTab}>
        <Tabs.List mb="sm">
          {panels.map(([name, title]) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {panels.map(([name, , panel]) => (
          <Tabs.Panel key={name} value={name} keepMounted={KEPT.includes(name) && !api.isDeployment}>
            {panel}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
