import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { type FieldsProps, Section, Wide } from './section.tsx';

/** The identity with which the client connects. */
export function IdentityFields({ form, onChange }: FieldsProps) {
  const { profile, secrets } = form;
  const set = (changes: Partial<ConnectionProfile>): void =>
    onChange({ ...form, profile: { ...profile, ...changes } });
  const setSecret = (changes: Secrets): void => onChange({ ...form, secrets: { ...secrets, ...changes } });
  const isVersion5 = profile.protocolVersion === 5;
  return (
    <Section title="Identity">
      <TextInput
        label="User name"
        autoComplete="username"
        spellCheck={false}
        value={profile.username}
        onChange={(event) => set({ username: event.currentTarget.value })}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        value={secrets.password ?? ''}
        onChange={(event) => setSecret({ password: event.currentTarget.value })}
      />
      <PasswordInput
        label="Token"
        description="Added to the URL’s query. It ends up in logs: let it be short-lived."
        autoComplete="off"
        value={secrets.token ?? ''}
        onChange={(event) => setSecret({ token: event.currentTarget.value })}
      />
      <TextInput
        label="Query parameter of the token"
        spellCheck={false}
        value={profile.tokenParameter}
        onChange={(event) => set({ tokenParameter: event.currentTarget.value })}
      />
      <TextInput
        label="Authentication method"
        description="Enhanced authentication of MQTT 5 in one step"
        disabled={!isVersion5}
        value={profile.authenticationMethod}
        onChange={(event) => set({ authenticationMethod: event.currentTarget.value })}
      />
      <PasswordInput
        label="Authentication data"
        autoComplete="off"
        disabled={!isVersion5 || profile.authenticationMethod === ''}
        value={secrets.authenticationData ?? ''}
        onChange={(event) => setSecret({ authenticationData: event.currentTarget.value })}
      />
      <Wide>
        <Checkbox
          label="Store the secrets in this browser"
          description="Unencrypted, for anybody who uses this browser profile. Otherwise you are asked again."
          checked={profile.storeSecrets}
          onChange={(event) => set({ storeSecrets: event.currentTarget.checked })}
        />
      </Wide>
    </Section>
  );
}
