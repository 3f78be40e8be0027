import { Text, Title } from '@mantine/core';
import { formatTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './presence.module.css';
import type { PresenceEvent } from './rooms.ts';
import { presenceWords } from './strings.ts';

/** Joins and leaves, the newest first. */
export function PresenceEvents({ events }: { readonly events: readonly PresenceEvent[] }) {
  const title = 'Joins and leaves';
  return (
    <section className={classes.events} aria-label={title}>
      <Title order={2} size="xs">
        {title}
      </Title>
      {events.length === 0 ? (
        <Text size="xs" c="dimmed" px={12}>
          Nothing has changed since the room is watched.
        </Text>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys
        <ul className={classes.eventList} tabIndex={0}>
          {events.map(({ number, kind, member, atMs }) => (
            <li key={number} data-kind={kind}>
              <time dateTime={new Date(atMs).toISOString()}>{formatTime(atMs)}</time>
              <span className={classes.who}>{visibleText(member)}</span>
              <span className={classes.what}>{presenceWords.event[kind]}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
