import { Button, Checkbox, SegmentedControl, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile, LoggedMessage, MessageLog } from '../../engine/types.ts';
import { useActiveConnection, useLogEnd } from '../../state/hooks.ts';
import { formatCount } from '../../ui/format.ts';
import { fileName } from '../../ui/save-file.ts';
import { compileFilter, NO_FILTER, type Predicate } from '../messages/message-filter.ts';
import { useMessagesState } from '../messages/messages-store.ts';
import { loadJsonPath } from '../messages/use-json-path.ts';
import { MEDIA_TYPES, MESSAGE_FORMATS, type MessageFormat, messagesFile } from './messages-file.ts';
import { savePieces } from './save-pieces.ts';
import classes from './transfer-view.module.css';

const DIRECTIONS = ['all', 'received', 'published'] as const;

/** The log of a connection as a file. */
export function ExportMessages({ profile }: { readonly profile: ConnectionProfile }) {
  const { t } = useTranslation();
  const log = useActiveConnection()?.messages;
  const { filter } = useMessagesState(profile.id);
  const [format, setFormat] = useState<MessageFormat>('json');
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('all');
  const [isFiltered, setFiltered] = useState(false);
  const [isWriting, setWriting] = useState(false);
  useLogEnd(log);
  const save = async (): Promise<void> => {
    if (log === undefined) return;
    const jsonPath = filter.kind === 'jsonpath' ? await loadJsonPath() : undefined;
    const { predicate } = isFiltered ? compileFilter(filter, jsonPath) : {};
    const chosen = chosenOf(log, direction, predicate);
    setWriting(true);
    await savePieces(fileName('messages', format), MEDIA_TYPES[format], messagesFile(chosen, format));
    setWriting(false);
  };
  const count = log?.size ?? 0;
  return (
    <section className={classes.card} aria-labelledby="export-messages">
      <h3 className={classes.heading} id="export-messages">
        {t('transfer.messages', { name: profile.name })}
      </h3>
      <Text size="xs" c="dimmed">
        {count === 0
          ? t('transfer.nothing')
          : t('transfer.messagesText', { count, shown: formatCount(count) })}{' '}
        {t('transfer.payloads')}
      </Text>
      <div className={classes.fields}>
        <SegmentedControl
          aria-label={t('transfer.formatLabel')}
          data={MESSAGE_FORMATS.map((value) => ({ value, label: t(`transfer.formats.${value}`) }))}
          value={format}
          onChange={(value) => setFormat(MESSAGE_FORMATS.find((known) => known === value) ?? 'json')}
        />
        <SegmentedControl
          aria-label={t('transfer.directionLabel')}
          data={DIRECTIONS.map((value) => ({ value, label: t(`transfer.directions.${value}`) }))}
          value={direction}
          onChange={(value) => setDirection(DIRECTIONS.find((known) => known === value) ?? 'all')}
        />
        {filter !== NO_FILTER && (
          <Checkbox
            label={t('transfer.onlyFiltered')}
            checked={isFiltered}
            onChange={(event) => setFiltered(event.currentTarget.checked)}
          />
        )}
      </div>
      <Button
        variant="default"
        leftSection={<IconDownload size={14} stroke={1.5} />}
        loading={isWriting}
        disabled={count === 0}
        onClick={() => void save()}
      >
        {isWriting ? t('transfer.exporting') : t('transfer.exportMessages')}
      </Button>
    </section>
  );
}

/** Held messages stay readable, even when the log drops them meanwhile. */
function chosenOf(
  log: MessageLog,
  direction: (typeof DIRECTIONS)[number],
  predicate: Predicate | undefined,
): readonly LoggedMessage[] {
  const chosen: LoggedMessage[] = [];
  for (let sequence = log.firstSequence; sequence < log.endSequence; sequence += 1) {
    const message = log.at(sequence);
    if (message === undefined || (direction !== 'all' && message.direction !== direction)) continue;
    if (predicate?.(message) !== false) chosen.push(message);
  }
  return chosen;
}
