import { Anchor } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { pathText } from '../decode/json-path.ts';
import { addSeries } from './charts-store.ts';
import { SERIES_MAX } from './limits.ts';
import type { SampleSource } from './series.ts';

const NOTIFICATION_ID = 'chart-this';

/** What it says can now be seen. */
export function forgetChartThis(): void {
  notifications.hide(NOTIFICATION_ID);
}

/** Adds a series from wherever a number is shown, and says so with a way to the charts. */
export function useChartThis(): (connectionId: string, topicFilter: string, source: SampleSource) => void {
  const { t } = useTranslation();
  return (connectionId, topicFilter, source) => {
    const outcome = addSeries(connectionId, topicFilter, source);
    const name = source.kind === 'value' ? pathText(source.path) : t(`charts.sources.${source.kind}`);
    notifications.show({
      id: NOTIFICATION_ID,
      closeButtonProps: { 'aria-label': t('app.close') },
      color: outcome === 'full' ? 'red' : 'indigo',
      title: t(`charts.outcomes.${outcome}`, { count: SERIES_MAX }),
      message: (
        <>
          {`${topicFilter} · ${name} `}
          <Anchor size="sm" href="#/charts">
            {t('charts.open')}
          </Anchor>
        </>
      ),
    });
  };
}
