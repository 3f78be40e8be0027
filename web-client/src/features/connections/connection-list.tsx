import { Group, ScrollArea, TextInput, UnstyledButton } from '@mantine/core';
import { IconPlus, IconSettings } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { editProfile } from '../../state/profiles.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { useStore } from '../../state/store.ts';
import { formatRate } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { StateDot } from '../../ui/state-dot.tsx';
import classes from './connection-list.module.css';

/** With more connections than this there is a search: they do not fit on a screen. */
const SEARCHED_FROM = 12;

/** All connections with their state and rate; a click shows one. */
export function ConnectionList({ onSelect }: { readonly onSelect: () => void }) {
  const profiles = useStore((state) => state.profiles);
  const isReady = useStore((state) => state.isReady);
  const [sought, setSought] = useState('');
  const isMany = profiles.length > SEARCHED_FROM;
  const shown = isMany ? profiles.filter((profile) => isSought(profile, sought)) : profiles;
  const add = (): void => {
    useStore.setState({ question: { type: 'new' } });
    onSelect();
  };
  return (
    <>
      <Group justify="space-between" wrap="nowrap" className={classes.head}>
        <h2 className={classes.heading}>Connections</h2>
        {/* Disabled until the stored connections have been read: one added earlier would be lost. */}
        <IconButton label="New connection" size={24} disabled={!isReady} onClick={add}>
          <IconPlus size={16} stroke={1.75} />
        </IconButton>
      </Group>
      {isMany && (
        <TextInput
          aria-label="Find a connection"
          placeholder={`Find among ${profiles.length}`}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
          mb={4}
        />
      )}
      {/* The views below stay visible, however many connections there are. */}
      <ScrollArea.Autosize mah="45vh" type="auto" scrollbars="y" scrollbarSize={6} offsetScrollbars="present">
        <ul className={classes.list}>
          {shown.map((profile) => (
            <li key={profile.id}>
              <ConnectionItem profile={profile} isAmongMany={isMany} onSelect={onSelect} />
            </li>
          ))}
        </ul>
      </ScrollArea.Autosize>
    </>
  );
}

/** Matches name or address, in upper or lower case. */
function isSought({ name, url }: ConnectionProfile, sought: string): boolean {
  return `${name}\n${url}`.toLowerCase().includes(sought.trim().toLowerCase());
}

interface ConnectionItemProps {
  readonly profile: ConnectionProfile;
  readonly isAmongMany: boolean;
  readonly onSelect: () => void;
}

function ConnectionItem({ profile, isAmongMany, onSelect }: ConnectionItemProps) {
  const isActive = useStore((state) => state.activeId === profile.id);
  const { phase, traffic } = useStatus(profile.id);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isActive && isAmongMany) button.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive, isAmongMany]);
  const select = (): void => {
    useStore.setState({ activeId: profile.id });
    onSelect();
  };
  const name = profile.name === '' ? 'Unnamed' : profile.name;
  return (
    <div className={classes.entry} data-active={isActive || undefined}>
      <UnstyledButton
        ref={button}
        className={classes.item}
        aria-pressed={isActive}
        onClick={select}
        title={profile.url}
      >
        <StateDot phase={phase} />
        <span className={classes.name}>{name}</span>
        {phase === 'connected' && traffic.messagesInPerSecond > 0 && (
          <span className={classes.rate}>{`${formatRate(traffic.messagesInPerSecond)}/s`}</span>
        )}
      </UnstyledButton>
      {isActive && !isRecording(profile.id) && (
        <IconButton
          label={`Edit ${name}`}
          size={24}
          onClick={() => {
            editProfile(profile.id);
            onSelect();
          }}
        >
          <IconSettings size={15} stroke={1.5} />
        </IconButton>
      )}
    </div>
  );
}
