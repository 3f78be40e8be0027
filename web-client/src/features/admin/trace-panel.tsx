import type { TraceLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { formatExact, formatTime, plural } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { type AdminApi, ApiError } from './admin-api.ts';
import classes from './admin-view.module.css';
import type { TraceAnswer } from './observing-api.ts';
import { observingWords } from './observing-strings.ts';
import { Refusal } from './refusal.tsx';
import { Table } from './table.tsx';
import { useAction } from './use-action.ts';
import { usePoll } from './use-poll.ts';

const COLUMNS = ['at', 'level', 'event', 'fields'] as const;
const TYPES = ['clientid', 'topic', 'ip_address'] as const;

/** Lines that the page shows of a trace: as many as the broker keeps. */
const LINES_MAX = 1_000;

const LOOK_MS = 1_000;

/** Lines of the log about a client, a topic or an address, as they come. */
export function TracePanel({ api }: { readonly api: AdminApi }) {
  const [type, setType] = useState<(typeof TYPES)[number]>('clientid');
  const [value, setValue] = useState('');
  const [name, setName] = useState<string>();
  const { error, run } = useAction();
  const stop = useCallback(
    async (running: string): Promise<void> => {
      try {
        await api.remove(pathWith('/trace/:name', { name: running }));
      } catch {
        // It has ended by itself.
      }
    },
    [api],
  );
  const start = async (): Promise<void> => {
    if (name !== undefined) await stop(name);
    setName(undefined);
    const next = `page-${crypto.randomUUID().slice(0, 8)}`;
    await api.post('/trace', { name: next, type, value: value.trim() });
    setName(next);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void run(start);
  };
  return (
    <>
      <form onSubmit={submit}>
        <Text size="sm" mb="xs">
          Lines of the log about one client, topic or address, as they come, for a minute.
        </Text>
        <Group align="flex-end" gap="xs" mb="sm">
          <Select
            label="By"
            data={TYPES.map((each) => ({ value: each, label: observingWords.trace.types[each] }))}
            value={type}
            w={170}
            onChange={(chosen) => chosen !== null && setType(chosen)}
          />
          <TextInput
            label="Value"
            spellCheck={false}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Button type="submit" disabled={value.trim() === ''}>
            Start
          </Button>
        </Group>
      </form>
      {error !== undefined && <Refusal error={error} />}
      {name !== undefined && <TraceLines key={name} api={api} name={name} stop={() => void stop(name)} />}
    </>
  );
}

/** Another page has stopped it, or it has been over for ten minutes. */
const GONE: TraceAnswer = { status: 'stopped', lines: [], position: '', left_out: 0 };

interface TraceLinesProps {
  readonly api: AdminApi;
  readonly name: string;
  readonly stop: () => void;
}

interface Told {
  readonly lines: readonly (TraceLine & { readonly number: number })[];
  readonly count: number;
}

function TraceLines({ api, name, stop }: TraceLinesProps) {
  const position = useRef('{}');
  const [told, setTold] = useState<Told>({ lines: [], count: 0 });
  const [isOver, setOver] = useState(false);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const query = { position: position.current };
      try {
        return await api.get<TraceAnswer>(pathWith('/trace/:name/log', { name }), query, signal);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return GONE;
        throw error;
      }
    },
    [api, name],
  );
  const { value, error } = usePoll(ask, isOver ? undefined : LOOK_MS);
  useEffect(() => {
    if (value === undefined) return;
    if (value !== GONE) position.current = value.position;
    setOver(value.status === 'stopped');
    setTold(({ lines, count }) => {
      const added = value.lines.map((line, index) => ({ ...line, number: count + index }));
      return { lines: [...lines, ...added].slice(-LINES_MAX), count: count + added.length };
    });
  }, [value]);
  const shown = formatExact(told.count);
  return (
    <>
      {error !== undefined && <Refusal error={error} />}
      <Group gap="xs" mb="xs">
        <Text size="xs" c="dimmed" role="status">
          {isOver
            ? plural(told.count, `Over: ${shown} line`, `Over: ${shown} lines`)
            : plural(told.count, `Running: ${shown} line`, `Running: ${shown} lines`)}
          {(value?.left_out ?? 0) > 0 &&
            ` ${plural(value?.left_out ?? 0, `and ${value?.left_out ?? 0} line left out: there were too many`, `and ${value?.left_out ?? 0} lines left out: there were too many`)}`}
        </Text>
        {!isOver && (
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => {
              setOver(true);
              stop();
            }}
          >
            Stop
          </Button>
        )}
      </Group>
      <Table
        label="Lines of the trace"
        className={classes.trace}
        columns={COLUMNS.map((column) => observingWords.trace.columns[column])}
        empty={told.lines.length === 0 ? 'No line yet.' : undefined}
      >
        {told.lines.toReversed().map(({ number, at, level, event, fields }) => (
          <tr key={number}>
            <td className={classes.time}>{formatTime(Date.parse(at))}</td>
            <td>{level}</td>
            <td className={classes.time}>{event}</td>
            <td className={classes.why}>{fieldsText(fields)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return visibleText(words.join(' '));
}
