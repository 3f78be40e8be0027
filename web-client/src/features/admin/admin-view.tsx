import { Code, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { isServed } from '../../state/endpoints.ts';
import { useActiveProfile, useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { AlarmsAlert } from './alarms.tsx';
import { BrokerTabs } from './broker-tabs.tsx';
import { CloudCard } from './cloud-card.tsx';
import { DeploymentFigures } from './deployment-figures.tsx';
import { FiguresBar } from './figures.tsx';
import { keepKey, keptKey } from './kept-key.ts';
import { KeyForm } from './key-form.tsx';

/** The state of the broker that serves the page, and where to find it in AWS. */
export function AdminView() {
  const api = useStore((state) => state.site.api);
  const profile = useActiveProfile();
  const { door } = useStatus(profile?.id);
  const isElsewhere = profile !== undefined && !isServed(profile.id);
  const isCloud =
    api === undefined || api.isDeployment || (isElsewhere && (door ?? profile.door) === 'gateway');
  const introOf = (of: typeof api): string => {
    if (of === undefined)
      return 'This page was served as static files, so it has no broker whose numbers it could show.';
    return of.isDeployment
      ? `The deployment at ${new URL(of.url).host}, as it was when this page asked. Each answer is billed, so the page asks again only when you do.`
      : `The numbers of the broker at ${new URL(of.url).host}, over both of its doors, every two seconds.`;
  };
  return (
    <div className={classes.view}>
      <Title order={2} size="h4">
        Admin
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {introOf(api)}
        {api?.isDeployment === false &&
          isElsewhere &&
          ` ${`“${profile.name}” is connected to another broker.`}`}
      </Text>
      {isCloud && api?.isDeployment !== true && <CloudCard hasApi={false} />}
      {api?.access === 'closed' && <Closed />}
      {api !== undefined && api.access !== 'closed' && <Broker api={api} />}
      {api?.isDeployment && (
        <div className={classes.below}>
          <CloudCard hasApi />
        </div>
      )}
    </div>
  );
}

function Broker({ api: site }: { readonly api: ConstructorParameters<typeof AdminApi>[0] }) {
  const [key, setKey] = useState(keptKey);
  const [tenant, setTenant] = useState<string>();
  const api = useMemo(() => new AdminApi(site, key, tenant), [site, key, tenant]);
  const keep = (given: string): void => {
    keepKey(given);
    setKey(given);
  };
  if (site.access === 'key' && key === undefined)
    return <KeyForm isDeployment={site.isDeployment} onKey={keep} />;
  return (
    <>
      {site.access === 'key' && <KeyForm isDeployment={site.isDeployment} onKey={keep} />}
      {!site.isDeployment && <AlarmsAlert api={api} />}
      {site.isDeployment ? <DeploymentFigures api={api} /> : <FiguresBar api={api} />}
      <BrokerTabs key={tenant} api={api} tenant={tenant} setTenant={setTenant} />
    </>
  );
}

function Closed() {
  return (
    <section className={classes.card} aria-labelledby="admin-closed">
      <h3 className={classes.heading} id="admin-closed">
        The API of this broker is closed
      </h3>
      <Text size="sm" mb="xs">
        Other machines can connect, or clients need a password: then the API opens only with a key. Start the
        broker with one:
      </Text>
      <Code block>{'openssl rand -base64 24 > api.key\napus serve … --api-key-file api.key'}</Code>
    </section>
  );
}
