import { fill } from '../../ui/format.ts';
import { say } from '../../ui/notice.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { pathText } from '../decode/json-path.ts';
import { addSeries } from './charts-store.ts';
import { SERIES_MAX } from './limits.ts';
import type { SampleSource } from './series.ts';
import { chartsWords } from './strings.ts';

/** Adds a series from any place that shows a number, and offers a link to the charts. */
export function useChartThis(): (connectionId: string, topicFilter: string, source: SampleSource) => void {
  return (connectionId, topicFilter, source) => {
    const outcome = addSeries(connectionId, topicFilter, source);
    const name = source.kind === 'value' ? pathText(source.path) : chartsWords.sources[source.kind];
    const said = fill(chartsWords.outcomes[outcome], { count: SERIES_MAX });
    say({
      kind: outcome === 'full' ? 'failed' : 'done',
      text: `${said}: ${visibleText(topicFilter)} · ${name}`,
      link: { href: '#/charts', text: 'Open the charts' },
    });
  };
}
