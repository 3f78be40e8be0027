import { validateTopicFilter } from '@apus/mqtt/topic';
import { Autocomplete, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useMemo, useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { parsePath } from '../decode/json-path.ts';
import { topicTreeOf } from '../tree/topic-trees.ts';
import { addSeries } from './charts-store.ts';
import { SERIES_MAX } from './limits.ts';
import type { SampleSource } from './series.ts';

const KINDS = ['value', 'latency', 'missing'] as const;

/** Most topics that are offered: for more there is the topic tree. */
const SUGGESTIONS_MAX = 200;

interface AddSeriesDialogProps {
  readonly profile: ConnectionProfile;
  readonly close: () => void;
}

/** Asks which number of which topics to chart. */
export function AddSeriesDialog({ profile, close }: AddSeriesDialogProps) {
  const [topicFilter, setTopicFilter] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]>('value');
  const [path, setPath] = useState('');
  const [isFull, setFull] = useState(false);
  const suggestions = useMemo(() => knownTopics(profile), [profile]);
  const parsed = parsePath(path);
  const isFilterWrong = validateTopicFilter(topicFilter) !== undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isFilterWrong || parsed === undefined) return;
    const source: SampleSource = kind === 'value' ? { kind, path: parsed } : { kind };
    if (addSeries(profile.id, topicFilter, source) === 'full') setFull(true);
    else close();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t('charts.addTitle')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Autocomplete
            label={t('charts.topicFilter')}
            data={suggestions}
            limit={20}
            spellCheck={false}
            value={topicFilter}
            onChange={setTopicFilter}
            error={topicFilter !== '' && isFilterWrong && t('charts.filterWrong')}
            data-autofocus
          />
          <Select
            label={t('charts.what')}
            description={t(`charts.sourceNotes.${kind}`)}
            data={KINDS.map((value) => ({ value, label: t(`charted.sources.${value}`) }))}
            value={kind}
            onChange={(value) => setKind(KINDS.find((known) => known === value) ?? 'value')}
          />
          {kind === 'value' && (
            <TextInput
              label={t('charts.path')}
              description={t('charts.pathHint')}
              spellCheck={false}
              value={path}
              onChange={(event) => setPath(event.currentTarget.value)}
              error={parsed === undefined && t('charts.pathWrong')}
            />
          )}
          {isFull && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {t('charted.outcomes.full', { count: SERIES_MAX })}
            </Text>
          )}
          <Group gap="xs" justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('charts.cancel')}
            </Button>
            <Button type="submit" disabled={isFilterWrong || parsed === undefined}>
              {t('charts.add')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function knownTopics({ id, subscriptions }: ConnectionProfile): string[] {
  const known = new Set(subscriptions.map(({ filter }) => filter));
  for (const { topic } of topicTreeOf(id).index.topics()) {
    if (known.size >= SUGGESTIONS_MAX) break;
    if (topic !== undefined) known.add(topic);
  }
  return [...known];
}
