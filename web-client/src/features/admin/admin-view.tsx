import { Code, Tabs, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isServed } from '../../state/endpoints.ts';
import { useActiveProfile, useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { BansTable } from './bans-table.tsx';
import { ClientsTable } from './clients-table.tsx';
import { CloudCard } from './cloud-card.tsx';
import { FiguresBar } from './figures.tsx';
import { KeyForm } from './key-form.tsx';
import { RetainedTable } from './retained-table.tsx';
import { SubscriptionsTable } from './subscriptions-table.tsx';
import { SystemsTables } from './systems-table.tsx';

/** The state of the broker that serves the page, and where to find one in AWS. */
export function AdminView() {
  const { t } = useTranslation();
  const api = useStore((state) => state.site.api);
  const profile = useActiveProfile();
  const { door } = useStatus(profile?.id);
  const isElsewhere = profile !== undefined && !isServed(profile.id);
  const isCloud = api === undefined || (isElsewhere && (door ?? profile.door) === 'gateway');
  return (
    <div className={classes.view}>
      <Title order={2} size="h4">
        {t('admin.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {api === undefined ? t('admin.introNone') : t('admin.intro', { host: new URL(api.url).host })}
        {api !== undefined && isElsewhere && ` ${t('admin.elsewhere', { name: profile.name })}`}
      </Text>
      {isCloud && <CloudCard />}
      {api?.access === 'closed' && <Closed />}
      {api !== undefined && api.access !== 'closed' && <Broker api={api} />}
    </div>
  );
}

/** Kept while the page is open, so that another view may be opened in between. */
let keptKey: string | undefined;

function Broker({ api: site }: { readonly api: ConstructorParameters<typeof AdminApi>[0] }) {
  const { t } = useTranslation();
  const [key, setKey] = useState(keptKey);
  const api = useMemo(() => new AdminApi(site, key), [site, key]);
  const keep = (given: string): void => {
    keptKey = given;
    setKey(given);
  };
  if (site.access === 'key' && key === undefined) return <KeyForm onKey={keep} />;
  return (
    <>
      {site.access === 'key' && <KeyForm onKey={keep} />}
      <FiguresBar api={api} />
      <Tabs defaultValue="clients">
        <Tabs.List mb="sm">
          <Tabs.Tab value="clients">{t('admin.tabs.clients')}</Tabs.Tab>
          <Tabs.Tab value="subscriptions">{t('admin.tabs.subscriptions')}</Tabs.Tab>
          <Tabs.Tab value="retained">{t('admin.tabs.retained')}</Tabs.Tab>
          <Tabs.Tab value="bans">{t('admin.tabs.bans')}</Tabs.Tab>
          <Tabs.Tab value="systems">{t('admin.systems.tab')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="clients">
          <ClientsTable api={api} />
        </Tabs.Panel>
        <Tabs.Panel value="subscriptions">
          <SubscriptionsTable api={api} />
        </Tabs.Panel>
        <Tabs.Panel value="retained">
          <RetainedTable api={api} />
        </Tabs.Panel>
        <Tabs.Panel value="bans">
          <BansTable api={api} />
        </Tabs.Panel>
        <Tabs.Panel value="systems">
          <SystemsTables api={api} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Closed() {
  const { t } = useTranslation();
  return (
    <section className={classes.card} aria-labelledby="admin-closed">
      <h3 className={classes.heading} id="admin-closed">
        {t('admin.closed')}
      </h3>
      <Text size="sm" mb="xs">
        {t('admin.closedText')}
      </Text>
      <Code block>{'openssl rand -base64 24 > api.key\napus serve … --api-key-file api.key'}</Code>
    </section>
  );
}
