import { type ComponentType, lazy, Suspense } from 'react';
import { profileOf } from '../state/profiles.ts';
import { useStore } from '../state/store.ts';

/** Fetches the code of the dialogs. */
export const DIALOG_LOADS: (() => Promise<unknown>)[] = [];

const DeleteDialog = loaded(() => import('../features/connections/delete-dialog.tsx'), 'DeleteDialog');
const SecretsDialog = loaded(() => import('../features/connections/secrets-dialog.tsx'), 'SecretsDialog');
const NewConnectionDialog = loaded(
  () => import('../features/connections/new-connection-dialog.tsx'),
  'NewConnectionDialog',
);
const ConnectionDrawer = loaded(
  () => import('../features/connections/connection-drawer.tsx'),
  'ConnectionDrawer',
);
const ImportDialog = loaded(() => import('../features/transfer/import-dialog.tsx'), 'ImportDialog');
const ExportDialog = loaded(() => import('../features/transfer/export-dialog.tsx'), 'ExportDialog');
const ShortcutsDialog = loaded(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog');
const CommandPalette = loaded(() => import('./command-palette.tsx'), 'CommandPalette');

/** The dialog that is open over the page, if there is one. */
export function Questions() {
  return (
    <Suspense>
      <Question />
    </Suspense>
  );
}

function Question() {
  const question = useStore((state) => state.question);
  const close = (): void => useStore.setState({ question: undefined });
  if (question === undefined) return null;
  if (question.type === 'shortcuts') return <ShortcutsDialog close={close} />;
  if (question.type === 'palette') return <CommandPalette close={close} />;
  if (question.type === 'new') return <NewConnectionDialog close={close} />;
  if (question.type === 'import') return <ImportDialog close={close} />;
  if (question.type === 'export') return <ExportDialog close={close} />;
  if (question.type === 'connection') return <ConnectionDrawer id={question.id} close={close} />;
  const profile = profileOf(question.id);
  if (profile === undefined) return null;
  if (question.type === 'secrets') return <SecretsDialog profile={profile} close={close} />;
  return <DeleteDialog profile={profile} close={close} />;
}

/** A dialog whose code is fetched when it is first needed. Declared as a function, since it is used above. */
function loaded<Name extends string, Props>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
) {
  DIALOG_LOADS.push(load);
  return lazy(async () => ({ default: (await load())[name] }));
}
