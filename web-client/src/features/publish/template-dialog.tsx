import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { saveTemplate } from './draft-archive.ts';
import { currentDraft } from './publish-store.ts';

/** Asks for the name under which a draft is stored. */
export function TemplateDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // React passes a dialog's events on to the form that opened it.
    event.stopPropagation();
    void saveTemplate(name, currentDraft(id));
    close();
  };
  return (
    <Modal opened onClose={close} title="Save as a template" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="Name of the template"
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={name.trim() === ''}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
