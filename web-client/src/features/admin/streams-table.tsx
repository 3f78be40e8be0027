import type { StreamLine } from '@apus/api';
import { formatBytes } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { Count, SystemsTable } from './systems-table.tsx';
import { tenantsWords } from './tenants-strings.ts';

/** Streams, and what they hold. */
export function StreamsTable({ api }: { readonly api: AdminApi }) {
  const columns = (['name', 'filter', 'topics', 'messages', 'bytes'] as const).map(
    (name) => tenantsWords.streams.columns[name],
  );
  return (
    <SystemsTable<StreamLine>
      api={api}
      path="/streams"
      label="Streams"
      columns={columns}
      empty="There are no streams."
      row={({ name, topic_filter, topics, messages, bytes }) => (
        <tr key={name}>
          <th scope="row" className={classes.name}>
            {visibleText(name)}
          </th>
          <td>{visibleText(topic_filter)}</td>
          <Count count={topics} />
          <Count count={messages} />
          <td className={classes.number}>{formatBytes(bytes)}</td>
        </tr>
      )}
    />
  );
}
