import { Select, Switch, TextInput } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
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
    <Section title={t('connections.editor.general')}>
      <TextInput
        label={t('connections.editor.name')}
        value={profile.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <AddressField form={form} onChange={onChange} />
      <ProtocolFields profile={profile} set={set} />
      <ClientIdField profile={profile} set={set} />
      <TimeFields profile={profile} set={set} />
      <Switch
        label={t('connections.editor.cleanStart')}
        description={t('connections.editor.cleanStartHint')}
        checked={profile.cleanStart}
        onChange={(event) => set({ cleanStart: event.currentTarget.checked })}
      />
      <Switch
        label={t('connections.editor.reconnect')}
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
      label={t('connections.editor.url')}
      description={isSplit ? t('connections.editor.urlSplit') : undefined}
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
        label={t('connections.editor.door')}
        data={[
          { value: 'auto', label: t('connections.editor.doorAuto') },
          { value: 'node', label: t('connections.editor.doorNode') },
          { value: 'gateway', label: t('connections.editor.doorGateway') },
        ]}
        value={profile.door}
        onChange={(entered) => set({ door: DOORS.find((door) => door === entered) ?? 'auto' })}
      />
      <Select
        label={t('connections.editor.version')}
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
      label={t('connections.editor.clientId')}
      placeholder={t('connections.editor.clientIdHint')}
      spellCheck={false}
      value={profile.clientId}
      onChange={(event) => set({ clientId: event.currentTarget.value })}
      rightSection={
        <IconButton
          label={t('connections.editor.clientIdMake')}
          size={24}
          onClick={() => set({ clientId: makeClientId() })}
        >
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
        label={t('connections.editor.keepAlive')}
        suffix={` ${t('connections.editor.seconds')}`}
        max={65_535}
        value={profile.keepAliveSeconds}
        onChange={(keepAliveSeconds) => set({ keepAliveSeconds: keepAliveSeconds ?? 0 })}
      />
      <OptionalNumberInput
        label={t('connections.editor.connectTimeout')}
        suffix={` ${t('connections.editor.seconds')}`}
        min={1}
        max={300}
        value={profile.connectTimeoutSeconds}
        onChange={(connectTimeoutSeconds) => set({ connectTimeoutSeconds: connectTimeoutSeconds ?? 10 })}
      />
      <OptionalNumberInput
        label={t('connections.editor.reconnectPeriod')}
        suffix={` ${t('connections.editor.milliseconds')}`}
        min={100}
        max={600_000}
        disabled={!profile.reconnect}
        value={profile.reconnectPeriodMs}
        onChange={(reconnectPeriodMs) => set({ reconnectPeriodMs: reconnectPeriodMs ?? 3_000 })}
      />
      <OptionalNumberInput
        label={t('connections.editor.heartbeat')}
        description={t('connections.editor.heartbeatHint')}
        suffix={` ${t('connections.editor.seconds')}`}
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
