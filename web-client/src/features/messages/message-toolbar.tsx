import { Button, Group, NativeSelect, Pill, SegmentedControl, Text, TextInput, Tooltip } from '@mantine/core';
import { IconFilter, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useCallback, useEffect, useRef } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useConnection, useLogChanges, useStatus } from '../../state/hooks.ts';
import { formatBytes, formatCount, formatExact, plural } from '../../ui/format.ts';
import { LogTools } from '../../ui/log-tools.tsx';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { type MessageFilter, NO_FILTER } from './message-filter.ts';
import type { MessageList } from './message-list.ts';
import classes from './message-toolbar.module.css';
import { setFilter } from './messages-store.ts';
import { messagesWords } from './strings.ts';

const KINDS = ['text', 'regex', 'jsonpath'] as const;
const DIRECTIONS = ['all', 'received', 'published'] as const;
const ICON = { size: 15, stroke: 1.5 } as const;

interface MessageToolbarProps {
  readonly profile: ConnectionProfile;
  readonly list: MessageList;
  readonly filter: MessageFilter;
  readonly problem: string | undefined;
}

/** Filters, pause and clear. */
export function MessageToolbar({ profile, list, filter, problem }: MessageToolbarProps) {
  const { id } = profile;
  const topicInput = useRef<HTMLInputElement>(null);
  useEffect(() => provideShortcut('filter', () => topicInput.current?.focus()), []);
  const subscription = profile.subscriptions.find((known) => known.id === filter.subscriptionId);
  return (
    <div className={classes.toolbar}>
      <Group gap={6} className={classes.filters} role="search" aria-label="Filter">
        <TextInput
          ref={topicInput}
          className={classes.topic}
          aria-label="Filter by topic"
          placeholder="Topic or filter"
          leftSection={<IconFilter {...ICON} />}
          spellCheck={false}
          value={filter.topic}
          onChange={(event) => setFilter(id, { topic: event.currentTarget.value })}
          onKeyDown={leaveByEscape}
        />
        <Group gap={0} wrap="nowrap" className={classes.query}>
          <NativeSelect
            className={classes.kind}
            aria-label="How to search"
            data={KINDS.map((value) => ({ value, label: messagesWords.kinds[value] }))}
            value={filter.kind}
            onChange={({ currentTarget: { value } }) =>
              setFilter(id, { kind: KINDS.find((kind) => kind === value) ?? 'text' })
            }
          />
          <Tooltip label={problem} disabled={problem === undefined} color="red.9" position="bottom-start">
            <TextInput
              flex={1}
              aria-label="Search the payloads"
              placeholder={messagesWords.queryHint[filter.kind]}
              leftSection={<IconSearch {...ICON} />}
              spellCheck={false}
              error={problem !== undefined}
              aria-description={problem}
              value={filter.query}
              onChange={(event) => setFilter(id, { query: event.currentTarget.value })}
              onKeyDown={leaveByEscape}
            />
          </Tooltip>
        </Group>
        <SegmentedControl
          aria-label="Direction"
          data={DIRECTIONS.map((value) => ({ value, label: messagesWords.directions[value] }))}
          value={filter.direction}
          onChange={(direction) => setFilter(id, { direction })}
        />
        <Button
          variant={filter.retainedOnly ? 'light' : 'default'}
          aria-pressed={filter.retainedOnly}
          onClick={() => setFilter(id, { retainedOnly: !filter.retainedOnly })}
        >
          Retained
        </Button>
        {subscription !== undefined && (
          <Pill
            withRemoveButton
            onRemove={() => setFilter(id, { subscriptionId: undefined })}
            removeButtonProps={{ 'aria-label': 'Show everything again', tabIndex: 0 }}
          >
            {`Only ${subscription.alias || subscription.filter}`}
          </Pill>
        )}
      </Group>
      <ListControls id={id} list={list} isFiltered={filter !== NO_FILTER} />
    </div>
  );
}

/** The field keeps its content; keyboard shortcuts work again. */
function leaveByEscape({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
  if (key === 'Escape') currentTarget.blur();
}

interface ListControlsProps {
  readonly id: string;
  readonly list: MessageList;
  readonly isFiltered: boolean;
}

/** Separate from the filters, since it renders with the stream. */
function ListControls({ id, list, isFiltered }: ListControlsProps) {
  const log = useConnection(id).messages;
  useLogChanges(list);
  const toggle = useCallback(() => (list.isPaused ? list.release() : list.hold()), [list]);
  const { messagesMax, bytesMax } = log.limits;
  const [messages, bytes] = [formatCount(messagesMax), formatBytes(bytesMax)];
  const kept =
    log.evicted === 0
      ? `The newest ${messages} messages or ${bytes} are kept.`
      : `The newest ${messages} messages or ${bytes} are kept; ${formatCount(log.evicted)} older ones were let go.`;
  const shown = formatCount(list.size);
  return (
    <LogTools
      count={
        <>
          <Lost id={id} />
          <Unsearched list={list} />
          <Tooltip label={kept} multiline maw={280}>
            <Text size="xs" c="dimmed" className={classes.count} data-testid="message-count">
              {isFiltered && list.size !== log.size
                ? `${shown} of ${formatCount(log.size)}`
                : plural(list.size, `${shown} message`, `${shown} messages`)}
            </Text>
          </Tooltip>
        </>
      }
      isHeld={list.isPaused}
      toggle={toggle}
      clearLabel="Clear the list"
      clear={() => log.clear()}
    />
  );
}

/** The messages at which the search was too slow. */
function Unsearched({ list }: { readonly list: MessageList }) {
  if (list.unsearched === 0 && !list.isSearchStopped) return null;
  return (
    <Text size="xs" c="var(--mantine-color-error)" role="status">
      {list.isSearchStopped
        ? 'The search was stopped: it takes too long'
        : `${list.unsearched} ${plural(list.unsearched, 'message', 'messages')} took too long to search`}
    </Text>
  );
}

function Lost({ id }: { readonly id: string }) {
  const { skipped, dropped } = useStatus(id).traffic;
  if (skipped === 0 && dropped === 0) return null;
  return (
    <Text size="xs" c="var(--mantine-color-error)" data-testid="lost">
      {dropped > 0 &&
        `${formatExact(dropped)} ${plural(dropped, 'message was', 'messages were')} dropped by the broker`}
      {dropped > 0 && skipped > 0 && ' · '}
      {skipped > 0 &&
        `${skipped} ${plural(skipped, 'message was', 'messages were')} not shown: the page was too busy`}
    </Text>
  );
}
