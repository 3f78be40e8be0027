import { Center, EmptyState } from '@mantine/core';
import { IconUsersGroup } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatExact, formatTime, plural } from '../../ui/format.ts';
import { troubleSentence, troubleWords } from '../../ui/trouble.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './presence.module.css';
import type { Member, Room } from './rooms.ts';

/** All rows are as high, so that many thousand of them need no measuring. */
const ROW_HEIGHT_PX = 34;
const OVERSCAN = 10;

interface RoomMembersProps {
  readonly profile: ConnectionProfile;
  readonly name: string;
  readonly room: Room;
}

/** The members of a room with their data, by their names. */
export function RoomMembers({ profile, name, room }: RoomMembersProps) {
  const { members } = room;
  const sorted = useMemo(
    () => [...members.values()].sort((one, other) => one.name.localeCompare(other.name)),
    [members],
  );
  return (
    <div className={classes.main}>
      <Summary profile={profile} name={name} room={room} />
      {sorted.length === 0 ? (
        <Center p="md" flex={1}>
          <EmptyState
            size="sm"
            icon={<IconUsersGroup stroke={1.5} />}
            title={`${visibleText(name)} has no members`}
            description={`A client enters it by a publish to $presence/${name}/MEMBER.`}
          />
        </Center>
      ) : (
        <MemberList name={name} members={sorted} />
      )}
    </div>
  );
}

function Summary({ profile, name, room }: RoomMembersProps) {
  const { subscriptions } = useStatus(profile.id);
  const subscription = profile.subscriptions.find(({ filter }) => filter === `$presence/${name}/+`);
  const trouble = subscription && subscriptions[subscription.id]?.trouble;
  const { members, occupancy, isDoubtful } = room;
  return (
    <div className={classes.summary}>
      <strong role="status">
        {plural(members.size, `${formatExact(members.size)} member`, `${formatExact(members.size)} members`)}
      </strong>
      {occupancy !== undefined && (
        <span className={classes.dim}>{`the broker counts ${formatExact(occupancy)}`}</span>
      )}
      {isDoubtful && (
        <span className={classes.warn}>
          The broker dropped messages for this client: ask for the members again.
        </span>
      )}
      {trouble !== undefined && (
        <span className={classes.warn} role="alert">
          {`The broker refused to show the room. ${troubleSentence(troubleWords(trouble))}`}
        </span>
      )}
    </div>
  );
}

interface MemberListProps {
  readonly name: string;
  readonly members: readonly Member[];
}

function MemberList({ name, members }: MemberListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: members.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN,
  });
  const label = `Members of ${visibleText(name)}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys
    <section ref={scroller} className={classes.scroller} aria-label={label} tabIndex={0}>
      <ul className={classes.list} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const member = members[index];
          return (
            member && (
              <li
                key={member.name}
                className={classes.member}
                aria-setsize={members.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <MemberRow member={member} />
              </li>
            )
          );
        })}
      </ul>
    </section>
  );
}

function MemberRow({ member: { name, data, joinedAtMs } }: { readonly member: Member }) {
  return (
    <>
      <span className={classes.name}>{visibleText(name)}</span>
      <span className={classes.data} title={visibleText(data)}>
        {visibleText(data)}
      </span>
      <span className={classes.since}>
        {joinedAtMs === undefined ? 'was there before' : `since ${formatTime(joinedAtMs)}`}
      </span>
    </>
  );
}
