import { Select, Switch, TextInput } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { makeClientId, withSplitUrl } from './connection-form.ts';
import { KeepFields } from './keep-fields.tsx';
import { type FieldsProps, Section } from './section.tsx';
import { UrlInput } from './url-input.tsx';

const DOORS = ['auto', 'node', 'gateway'] as const;

interface ProfileProps {
  readonly profile: ConnectionProfile;
  readonly set: (changes: Partial<ConnectionProfile>) => void;
}

/** The server, the client identifier, and the session. */
export function GeneralFields({ form, onChange }: FieldsProps) {
  const { profile } = form;
  const set = (changes: Partial<ConnectionProfile>): void =>
    onChange({ ...form, profile: { ...profile, ...changes } });
  return (
    <Section title="General">
      <TextInput
        label="Name"
        value={profile.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <AddressField form={form} onChange={onChange} />
      <ProtocolFields profile={profile} set={set} />
      <ClientIdField profile={profile} set={set} />
      <TimeFields profile={profile} set={set} />
      <Switch
        label="Clean start"
        description="Begin with an empty session, and drop the old one"
        checked={profile.cleanStart}
        onChange={(event) => set({ cleanStart: event.currentTarget.checked })}
      />
      <Switch
        label="Reconnect when it is lost"
        checked={profile.reconnect}
        onChange={(event) => set({ reconnect: event.currentTarget.checked })}
      />
      <KeepFields profile={profile} onChange={set} />
    </Section>
  );
}

/** The URL. Credentials in it move to their own fields. */
function AddressField({ form, onChange }: FieldsProps) {
  const [isSplit, setSplit] = useState(false);
  const { profile } = form;
  const split = (): void => {
    const next = withSplitUrl(form);
    setSplit(next !== form);
    if (next !== form) onChange(next);
  };
  return (
    <UrlInput
      label="URL"
      description={isSplit ? 'The credentials in the URL were moved to their own fields.' : undefined}
      value={profile.url}
      onChange={(url) => onChange({ ...form, profile: { ...profile, url } })}
      onBlur={split}
      required
    />
  );
}

function ProtocolFields({ profile, set }: ProfileProps) {
  return (
    <>
      <Select
        label="Door"
        data={[
          { value: 'auto', label: 'Find out' },
          { value: 'node', label: 'Node: MQTT over WebSocket' },
          { value: 'gateway', label: 'Gateway: text frames' },
        ]}
        value={profile.door}
        onChange={(entered) => set({ door: DOORS.find((door) => door === entered) ?? 'auto' })}
      />
      <Select
        label="MQTT version"
        data={[
          { value: '5', label: '5.0' },
          { value: '4', label: '3.1.1' },
        ]}
        value={String(profile.protocolVersion)}
        onChange={(entered) => set({ protocolVersion: entered === '4' ? 4 : 5 })}
      />
    </>
  );
}

function ClientIdField({ profile, set }: ProfileProps) {
  return (
    <TextInput
      label="Client identifier"
      placeholder="Empty: the server chooses one at each connection"
      spellCheck={false}
      value={profile.clientId}
      onChange={(event) => set({ clientId: event.currentTarget.value })}
      rightSection={
        <IconButton label="Make one" size={24} onClick={() => set({ clientId: makeClientId() })}>
          <IconDice5 size={16} stroke={1.5} />
        </IconButton>
      }
    />
  );
}

/** Keep Alive, and the waits before a connection is given up or made anew. */
function TimeFields({ profile, set }: ProfileProps) {
  return (
    <>
      <OptionalNumberInput
        label="Keep alive"
        suffix=" s"
        max={65_535}
        value={profile.keepAliveSeconds}
        onChange={(keepAliveSeconds) => set({ keepAliveSeconds: keepAliveSeconds ?? 0 })}
      />
      <OptionalNumberInput
        label="Connect timeout"
        suffix=" s"
        min={1}
        max={300}
        value={profile.connectTimeoutSeconds}
        onChange={(connectTimeoutSeconds) => set({ connectTimeoutSeconds: connectTimeoutSeconds ?? 10 })}
      />
      <OptionalNumberInput
        label="Wait before each try"
        suffix=" ms"
        min={100}
        max={600_000}
        disabled={!profile.reconnect}
        value={profile.reconnectPeriodMs}
        onChange={(reconnectPeriodMs) => set({ reconnectPeriodMs: reconnectPeriodMs ?? 3_000 })}
      />
      <OptionalNumberInput
        label="Heartbeat"
        description="Gateway door: the longest silence, 1 to 540 s. Less notices a loss sooner and costs two billed messages each time."
        suffix=" s"
        min={1}
        max={540}
        disabled={profile.door === 'node'}
        placeholder="540"
        value={profile.heartbeatSeconds}
        onChange={(heartbeatSeconds) => set({ heartbeatSeconds })}
      />
    </>
  );
}
