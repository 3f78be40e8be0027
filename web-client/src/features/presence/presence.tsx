import { Button, Center, EmptyState, Select, TextInput } from '@mantine/core';
import { IconEyeOff, IconRefresh, IconUsersGroup } from '@tabler/icons-react';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import type { ConnectionProfile, Subscription } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { setSubscriptions } from '../../state/profiles.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { roomsOf } from './followed-rooms.ts';
import classes from './presence.module.css';
import { useChosenRoom } from './room-choice.ts';
import { RoomMembers } from './room-members.tsx';
import { isName, notWatching, watchedRooms, watching } from './topics.ts';

const ICON = { size: 16, stroke: 1.5 } as const;

/** The members of a room. */
export function Presence({ profile }: { readonly profile: ConnectionProfile }) {
  const { id, subscriptions } = profile;
  const rooms = roomsOf(id);
  useSyncExternalStore(rooms.subscribe, () => rooms.version);
  const watched = watchedRooms(subscriptions);
  const [room, choose] = useChosenRoom(id, watched);
  const change = (next: readonly Subscription[], changed: string): void => {
    rooms.forget(changed);
    void setSubscriptions(id, next);
  };
  const watch = (name: string): void => {
    if (!watched.includes(name)) change(watching(subscriptions, name), name);
    choose(name);
  };
  return (
    <section className={classes.view} aria-label="Presence">
      <div className={classes.toolbar}>
        <WatchForm onWatch={watch} />
        {room !== undefined && (
          <>
            <Select
              aria-label="Watched room"
              data={watched.map((name) => ({ value: name, label: visibleText(name) }))}
              value={room}
              allowDeselect={false}
              onChange={(name) => name !== null && choose(name)}
            />
            <IconButton
              label={`Ask for the members of ${room} again`}
              onClick={() => change(watching(subscriptions, room), room)}
            >
              <IconRefresh {...ICON} />
            </IconButton>
            <IconButton
              label={`Stop watching ${room}`}
              onClick={() => change(notWatching(subscriptions, room), room)}
            >
              <IconEyeOff {...ICON} />
            </IconButton>
          </>
        )}
      </div>
      {room === undefined ? (
        <Nothing id={id} />
      ) : (
        <RoomMembers key={room} profile={profile} name={room} room={rooms.get(room)} />
      )}
    </section>
  );
}

function WatchForm({ onWatch }: { readonly onWatch: (room: string) => void }) {
  const [name, setName] = useState('');
  const isWrong = name !== '' && !isName(name);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isName(name)) return;
    onWatch(name);
    setName('');
  };
  return (
    <form className={classes.room} onSubmit={submit}>
      <TextInput
        aria-label="Room"
        placeholder="room-7"
        spellCheck={false}
        value={name}
        error={isWrong ? 'One level of a topic: without /, + and #' : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!isName(name)}>
        Watch
      </Button>
    </form>
  );
}

function Nothing({ id }: { readonly id: string }) {
  const { phase } = useStatus(id);
  return (
    <Center p="md" flex={1}>
      <EmptyState
        size="sm"
        icon={<IconUsersGroup stroke={1.5} />}
        title="No room is watched"
        description={
          phase === 'connected'
            ? 'Watch a room to see its members, and who comes and goes: brokers of Apus keep them at $presence/ROOM/MEMBER.'
            : 'Connect first: the button is at the top.'
        }
      />
    </Center>
  );
}
