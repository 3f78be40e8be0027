import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { newProfile } from '../../engine/new-profile.ts';
import type { Secrets } from '../../engine/types.ts';
import { addProfile, connectProfile, editProfile } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';
import { keepSecrets } from '../../state/secrets.ts';
import { type ConnectionForm, isUrlRight, nameOfUrl, savedForm, withSplitUrl } from './connection-form.ts';
import { keepEdit } from './edits-store.ts';
import { SecretInput } from './secret-input.tsx';
import type { FieldsProps } from './section.tsx';
import { UrlInput } from './url-input.tsx';

/** Asks for the fields that nearly every connection needs: address and credentials. The others are one click away. */
export function NewConnectionDialog({ close }: { readonly close: () => void }) {
  const [form, setForm] = useState<ConnectionForm>(() => ({ profile: newProfile(''), secrets: {} }));
  const { profile } = form;
  const isRight = isUrlRight(profile.url.trim());
  const named = (): ConnectionForm => {
    const saved = savedForm(form);
    const name = nameOfUrl(saved.profile.url) ?? 'New connection';
    return { ...saved, profile: { ...saved.profile, name } };
  };
  const connect = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isRight) return;
    const made = named();
    close();
    await Promise.all([keepSecrets(made.profile, made.secrets), addProfile(made.profile)]);
    openView('messages');
    connectProfile(made.profile.id);
  };
  const more = async (): Promise<void> => {
    const made = named();
    close();
    // The entered values are kept in the editor, and saved there.
    if (profile.url !== '') keepEdit(made.profile.id, made);
    await addProfile({ ...newProfile('', made.profile.name), id: made.profile.id });
    editProfile(made.profile.id);
  };
  return (
    <Modal opened onClose={close} title="New connection">
      <form onSubmit={(event) => void connect(event)} noValidate>
        <Stack gap="sm">
          <MainFields form={form} onChange={setForm} />
          <Group justify="space-between" gap="xs">
            <Button px="xs" variant="subtle" onClick={() => void more()}>
              More …
            </Button>
            <Group gap="xs">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" disabled={!isRight}>
                Connect
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Address and credentials. All fields are there from the start: one that came later would move the buttons below it. */
function MainFields({ form, onChange }: FieldsProps) {
  const { profile, secrets } = form;
  const setSecrets = (next: Secrets): void => onChange({ ...form, secrets: next });
  return (
    <>
      <UrlInput
        label="URL"
        required
        data-autofocus
        value={profile.url}
        onChange={(url) => onChange({ ...form, profile: { ...profile, url } })}
        onBlur={() => onChange(withSplitUrl(form))}
      />
      <SecretInput
        name="token"
        description="A deployment of Apus wants one; other brokers want a user name, or nothing."
        secrets={secrets}
        onChange={setSecrets}
      />
      <TextInput
        label="User name"
        autoComplete="username"
        spellCheck={false}
        value={profile.username}
        onChange={({ currentTarget: { value: username } }) =>
          onChange({ ...form, profile: { ...profile, username } })
        }
      />
      <SecretInput name="password" secrets={secrets} onChange={setSecrets} />
    </>
  );
}
