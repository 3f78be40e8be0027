import { Button, Group, Tabs, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AdminApi } from './admin-api.ts';
import { BansTable } from './bans-table.tsx';
import { ClientsTable } from './clients-table.tsx';
import { QuotasTable } from './quotas-table.tsx';
import { RetainedTable } from './retained-table.tsx';
import { StreamsTable } from './streams-table.tsx';
import { SubscriptionsTable } from './subscriptions-table.tsx';
import { SystemsTables } from './systems-table.tsx';
import { TenantsTable } from './tenants-table.tsx';
import { UsageTable } from './usage-table.tsx';

interface BrokerTabsProps {
  readonly api: AdminApi;
  readonly tenant: string | undefined;
  /** Undefined: the default tenant. */
  readonly setTenant: (tenant: string | undefined) => void;
}

/** The tables of a broker: those that its door supports, and tenants if it has a register. */
export function BrokerTabs({ api, tenant, setTenant }: BrokerTabsProps) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<string | null>('clients');
  const look = (name: string): void => {
    setTenant(name);
    setTab('clients');
  };
  const panels: readonly (readonly [name: string, title: string, panel: ReactNode])[] = [
    ['clients', t('admin.tabs.clients'), <ClientsTable key="clients" api={api} />],
    ['subscriptions', t('admin.tabs.subscriptions'), <SubscriptionsTable key="subscriptions" api={api} />],
    ['retained', t('admin.tabs.retained'), <RetainedTable key="retained" api={api} />],
    ['streams', t('admin.tenants.streams.tab'), <StreamsTable key="streams" api={api} />],
    ['bans', t('admin.tabs.bans'), <BansTable key="bans" api={api} />],
    ['systems', t('admin.systems.tab'), <SystemsTables key="systems" api={api} />],
    ['quotas', t('admin.bounds.quotas.tab'), <QuotasTable key="quotas" api={api} />],
    ...(api.hasTenants
      ? ([
          ['tenants', t('admin.tenants.tab'), <TenantsTable key="tenants" api={api} look={look} />],
          ['usage', t('admin.tenants.usage.tab'), <UsageTable key="usage" api={api} />],
        ] as const)
      : []),
  ];
  return (
    <>
      {tenant !== undefined && (
        <Group gap="xs" mb="xs">
          <Text size="sm" role="status">
            {t('admin.tenants.shown', { name: tenant })}
          </Text>
          <Button variant="default" size="compact-xs" onClick={() => setTenant(undefined)}>
            {t('admin.tenants.back')}
          </Button>
        </Group>
      )}
      <Tabs value={tab} onChange={setTab} keepMounted={!api.isDeployment}>
        <Tabs.List mb="sm">
          {panels.map(([name, title]) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {panels.map(([name, , panel]) => (
          <Tabs.Panel key={name} value={name}>
            {panel}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
