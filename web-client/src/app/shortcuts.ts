import { type HotkeyItem, useHotkeys, useLocalStorage } from '@mantine/hooks';
import { openView } from '../state/routes.ts';
import { useStore } from '../state/store.ts';
import { VIEW_IDS } from '../state/view-ids.ts';
import { runShortcut, type ShortcutAction } from '../ui/shortcut-actions.ts';

/** The keys of each action, as the help shows them. */
export const SHORTCUT_KEYS: Readonly<Record<ShortcutAction | 'help', string>> = {
  filter: '/',
  pause: 'Space',
  subscribe: 'N',
  publish: 'P',
  help: '?',
};

/** Single keys can be switched off: they interfere with speech input (WCAG 2.1.4). */
export function useShortcutsEnabled() {
  return useLocalStorage({ key: 'apus.shortcuts', defaultValue: true });
}

/** Not while a question is open. */
function togglePalette(): void {
  const { question } = useStore.getState();
  if (question === undefined) useStore.setState({ question: { type: 'palette' } });
  else if (question.type === 'palette') useStore.setState({ question: undefined });
}

function showHelp(): void {
  useStore.setState({ question: { type: 'shortcuts' } });
}

export function useShortcuts(): void {
  const [isEnabled] = useShortcutsEnabled();
  const run =
    (action: ShortcutAction) =>
    (event: KeyboardEvent): void => {
      // The space bar presses the focused element.
      if (
        action === 'pause' &&
        event.target instanceof HTMLElement &&
        event.target.closest('button, a, [role]')
      )
        return;
      if (runShortcut(action)) event.preventDefault();
    };
  const items: HotkeyItem[] = [
    ['/', run('filter'), { preventDefault: false }],
    ['Space', run('pause'), { preventDefault: false }],
    ['N', run('subscribe'), { preventDefault: false }],
    ['P', run('publish'), { preventDefault: false }],
    // With Shift or without: that depends on the layout of the keyboard.
    ['shift+?', showHelp],
    ['?', showHelp],
    ...VIEW_IDS.map((id, index): HotkeyItem => [String(index + 1), () => openView(id)]),
  ];
  useHotkeys(isEnabled ? items : []);
  // It is no single key, so it also works with speech input, and in text fields.
  useHotkeys([['mod+K', togglePalette]], [], true);
}
