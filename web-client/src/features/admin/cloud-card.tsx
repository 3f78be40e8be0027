import { Anchor, Code, List, Text } from '@mantine/core';
import { t } from '../../i18n/index.ts';
import { useStore } from '../../state/store.ts';
import classes from './admin-view.module.css';

const METRICS = ['connections', 'messages', 'fanOut', 'trouble', 'cost'] as const;

/** Links for the operator of a gateway door in AWS: this page has no access to the account. */
export function CloudCard({ hasApi }: { readonly hasApi: boolean }) {
  const dashboardUrl = useStore((state) => state.site.dashboardUrl);
  return (
    <section className={classes.card} aria-labelledby="admin-cloud">
      <h3 className={classes.heading} id="admin-cloud">
        {t('admin.cloud')}
      </h3>
      <Text size="sm" mb="xs">
        {t('admin.cloudText')}
      </Text>
      <List size="xs" spacing={4} mb="sm">
        {METRICS.map((name) => (
          <List.Item key={name}>{t(`admin.cloudMetrics.${name}`)}</List.Item>
        ))}
      </List>
      {!hasApi && (
        <Text size="sm" mb="sm">
          {t('admin.cloudApi')} <Code>{'"api": { "url": "https://…" }'}</Code>
        </Text>
      )}
      {dashboardUrl === undefined ? (
        <Text size="xs" c="dimmed">
          {t('admin.noDashboard')} <Code>{'"dashboardUrl": "https://…"'}</Code>
        </Text>
      ) : (
        <Anchor size="sm" href={dashboardUrl} target="_blank" rel="noreferrer">
          {t('admin.openDashboard')}
        </Anchor>
      )}
    </section>
  );
}
