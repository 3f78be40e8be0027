import { Anchor, Code, List, Text } from '@mantine/core';
import { useStore } from '../../state/store.ts';
import classes from './admin-view.module.css';
import { adminWords } from './strings.ts';

const METRICS = ['connections', 'messages', 'fanOut', 'trouble', 'cost'] as const;

/** Links for the operator of a gateway door in AWS: this page has no access to the account. */
export function CloudCard({ hasApi }: { readonly hasApi: boolean }) {
  const dashboardUrl = useStore((state) => state.site.dashboardUrl);
  return (
    <section className={classes.card} aria-labelledby="admin-cloud">
      <h3 className={classes.heading} id="admin-cloud">
        A gateway door in AWS
      </h3>
      <Text size="sm" mb="xs">
        The metrics of a deployment are in CloudWatch, on the dashboard of its stack:
      </Text>
      <List size="xs" spacing={4} mb="sm">
        {METRICS.map((name) => (
          <List.Item key={name}>{adminWords.cloudMetrics[name]}</List.Item>
        ))}
      </List>
      {!hasApi && (
        <Text size="sm" mb="sm">
          This view lists its clients as well, where it was deployed with --http-api-key-sha256 and
          config.json beside this page names its HttpApiUrl: <Code>{'"api": { "url": "https://…" }'}</Code>
        </Text>
      )}
      {dashboardUrl === undefined ? (
        <Text size="xs" c="dimmed">
          Its address can be shown here: in config.json beside this page,{' '}
          <Code>{'"dashboardUrl": "https://…"'}</Code>
        </Text>
      ) : (
        <Anchor size="sm" href={dashboardUrl} target="_blank" rel="noreferrer">
          Open the dashboard in CloudWatch
        </Anchor>
      )}
    </section>
  );
}
