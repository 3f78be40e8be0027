import { Alert, Button, Center, EmptyState, Group, Menu, Progress, ScrollArea, Text } from '@mantine/core';
import { IconDownload, IconGauge } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useActiveProfile } from '../../state/hooks.ts';
import { formatDateTime } from '../../ui/format.ts';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { troubleSentence, useTrouble } from '../../ui/trouble.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { BenchCharts } from './bench-charts.tsx';
import { BenchNumbers } from './bench-numbers.tsx';
import { isRunning, useBench } from './bench-store.ts';
import classes from './bench-view.module.css';
import { PlanForm } from './plan-form.tsx';
import { type BenchResult, resultJson, secondsCsv } from './result.ts';

/** Measures a broker from this browser. */
export function BenchView() {
  const { t } = useTranslation();
  const profile = useActiveProfile();
  const { result } = useBench();
  if (profile === undefined) return <EmptyConnection />;
  return (
    <section className={classes.view} aria-label={t('bench.title')}>
      <ScrollArea className={classes.plan} type="auto">
        <PlanForm profile={profile} />
      </ScrollArea>
      <ScrollArea className={classes.result} type="auto" viewportProps={{ tabIndex: 0 }}>
        {result === undefined ? (
          <Center p="xl">
            <EmptyState
              size="sm"
              icon={<IconGauge stroke={1.5} />}
              title={t('bench.none')}
              description={t('bench.noneAdvice')}
            />
          </Center>
        ) : (
          <Result result={result} />
        )}
      </ScrollArea>
    </section>
  );
}

function Result({ result }: { readonly result: BenchResult }) {
  const { t } = useTranslation();
  const toWords = useTrouble();
  const { plan, url, startedAt, snapshot } = result;
  const { phase, connected, trouble } = snapshot;
  const total = plan.publishers + plan.subscribers;
  return (
    <div className={classes.results}>
      <Group gap="xs" wrap="nowrap">
        <div className={classes.phase}>
          <Text size="sm" fw={600} role="status">
            {t(`bench.phases.${phase}`, { connected, total })}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {`${url} · ${formatDateTime(Date.parse(startedAt))}`}
          </Text>
        </div>
        <ExportMenu result={result} />
      </Group>
      {isRunning(phase) && <Progress value={progressOf(result)} aria-label={t('bench.progress')} />}
      {trouble !== undefined && (
        <Alert color="red" variant="light">
          {troubleSentence(toWords(trouble))}
        </Alert>
      )}
      <BenchNumbers snapshot={snapshot} />
      <BenchCharts snapshot={snapshot} />
    </div>
  );
}

/** Opening the connections counts as a tenth of it. */
function progressOf({ plan, snapshot }: BenchResult): number {
  const total = plan.publishers + plan.subscribers;
  if (snapshot.phase === 'connecting') return (snapshot.connected / total) * 10;
  return 10 + Math.min(1, snapshot.seconds.length / plan.durationSeconds) * 90;
}

function ExportMenu({ result }: { readonly result: BenchResult }) {
  const { t } = useTranslation();
  const save = (extension: string, type: string, text: string): void =>
    saveBlob(fileName('bench', extension), new Blob([text], { type }));
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} stroke={1.5} />}>
          {t('bench.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save('json', 'application/json', resultJson(result))}>
          {t('bench.exportJson')}
        </Menu.Item>
        <Menu.Item onClick={() => save('csv', 'text/csv', secondsCsv(result.snapshot.seconds))}>
          {t('bench.exportCsv')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
