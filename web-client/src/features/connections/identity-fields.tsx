import { Checkbox, TextInput } from '@mantine/core';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { SecretInput } from './secret-input.tsx';
import { type FieldsProps, Section, Wide } from './section.tsx';

/** The identity with which the client connects. */
export function IdentityFields({ form, onChange }: FieldsProps) {
  const { profile, secrets } = form;
  const set = (changes: Partial<ConnectionProfile>): void =>
    onChange({ ...form, profile: { ...profile, ...changes } });
  const setSecrets = (next: Secrets): void => onChange({ ...form, secrets: next });
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
      <SecretInput name="password" secrets={secrets} onChange={setSecrets} />
      <SecretInput
        name="token"
        description="Added to the URL’s query. It ends up in logs: let it be short-lived."
        secrets={secrets}
        onChange={setSecrets}
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
      <SecretInput
        name="authenticationData"
        disabled={!isVersion5 || profile.authenticationMethod === ''}
        secrets={secrets}
        onChange={setSecrets}
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
