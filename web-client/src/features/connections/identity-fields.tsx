import { Checkbox, PasswordInput, TextInput } from '@mantine/core';
import type { ConnectionProfile, Secrets } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { type FieldsProps, Section, Wide } from './section.tsx';

/** The identity with which the client connects. */
export function IdentityFields({ form, onChange }: FieldsProps) {
  const { profile, secrets } = form;
  const set = (changes: Partial<ConnectionProfile>): void =>
    onChange({ ...form, profile: { ...profile, ...changes } });
  const setSecret = (changes: Secrets): void => onChange({ ...form, secrets: { ...secrets, ...changes } });
  const isVersion5 = profile.protocolVersion === 5;
  return (
    <Section title={t('connections.editor.identity')}>
      <TextInput
        label={t('connections.editor.username')}
        autoComplete="username"
        spellCheck={false}
        value={profile.username}
        onChange={(event) => set({ username: event.currentTarget.value })}
      />
      <PasswordInput
        label={t('connections.editor.password')}
        autoComplete="current-password"
        value={secrets.password ?? ''}
        onChange={(event) => setSecret({ password: event.currentTarget.value })}
      />
      <PasswordInput
        label={t('connections.editor.token')}
        description={t('connections.editor.tokenHint')}
        autoComplete="off"
        value={secrets.token ?? ''}
        onChange={(event) => setSecret({ token: event.currentTarget.value })}
      />
      <TextInput
        label={t('connections.editor.tokenParameter')}
        spellCheck={false}
        value={profile.tokenParameter}
        onChange={(event) => set({ tokenParameter: event.currentTarget.value })}
      />
      <TextInput
        label={t('connections.editor.authMethod')}
        description={t('connections.editor.authHint')}
        disabled={!isVersion5}
        value={profile.authenticationMethod}
        onChange={(event) => set({ authenticationMethod: event.currentTarget.value })}
      />
      <PasswordInput
        label={t('connections.editor.authData')}
        autoComplete="off"
        disabled={!isVersion5 || profile.authenticationMethod === ''}
        value={secrets.authenticationData ?? ''}
        onChange={(event) => setSecret({ authenticationData: event.currentTarget.value })}
      />
      <Wide>
        <Checkbox
          label={t('connections.editor.storeSecrets')}
          description={t('connections.editor.storeSecretsHint')}
          checked={profile.storeSecrets}
          onChange={(event) => set({ storeSecrets: event.currentTarget.checked })}
        />
      </Wide>
    </Section>
  );
}
