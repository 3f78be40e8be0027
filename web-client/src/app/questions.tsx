import { DeleteDialog } from '../features/connections/delete-dialog.tsx';
import { SecretsDialog } from '../features/connections/secrets-dialog.tsx';
import { ShareDialog } from '../features/connections/share-dialog.tsx';
import { SharedDialog } from '../features/connections/shared-dialog.tsx';
import { profileOf } from '../state/profiles.ts';
import { useStore } from '../state/store.ts';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';

/** The dialog that stands over the page, if one does. */
export function Questions() {
  const question = useStore((state) => state.question);
  const close = (): void => useStore.setState({ question: undefined });
  if (question === undefined) return null;
  if (question.type === 'shortcuts') return <ShortcutsDialog close={close} />;
  if (question.type === 'shared') return <SharedDialog profile={question.profile} close={close} />;
  const profile = profileOf(question.id);
  if (profile === undefined) return null;
  if (question.type === 'secrets') return <SecretsDialog profile={profile} close={close} />;
  if (question.type === 'share') return <ShareDialog profile={profile} close={close} />;
  return <DeleteDialog profile={profile} close={close} />;
}
