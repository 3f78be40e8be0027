import { validateTopicFilter } from '@apus/mqtt/topic';
import { Autocomplete, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useMemo, useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { parsePath } from '../decode/json-path.ts';
import { topicTreeOf } from '../tree/topic-trees.ts';
import { addSeries } from './charts-store.ts';
import { SERIES_MAX } from './limits.ts';
import type { SampleSource } from './series.ts';
import { chartsWords } from './strings.ts';

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
    <Modal opened onClose={close} title="Add a series">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Autocomplete
            label="Topic or topic filter"
            data={suggestions}
            limit={20}
            spellCheck={false}
            value={topicFilter}
            onChange={setTopicFilter}
            error={topicFilter !== '' && isFilterWrong && 'Not a topic filter'}
            data-autofocus
          />
          <Select
            label="Value to chart"
            description={chartsWords.sourceNotes[kind]}
            data={KINDS.map((value) => ({ value, label: chartsWords.sources[value] }))}
            value={kind}
            onChange={(value) => value !== null && setKind(value)}
          />
          {kind === 'value' && (
            <TextInput
              label="Path in the payload"
              description="$.temperature; empty where the payload is the number"
              spellCheck={false}
              value={path}
              onChange={(event) => setPath(event.currentTarget.value)}
              error={
                parsed === undefined &&
                "Not a path to one value. Examples: $.temperature, $.rooms[0]['the name']"
              }
            />
          )}
          {isFull && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {`There are ${SERIES_MAX} series already: remove one first`}
            </Text>
          )}
          <Group gap="xs" justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" disabled={isFilterWrong || parsed === undefined}>
              Add a series
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
