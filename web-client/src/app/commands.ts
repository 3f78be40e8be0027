import type { MantineColorScheme } from '@mantine/core';
import type { ConnectionPhase, ConnectionProfile } from '../engine/types.ts';
import { setLayout, useLayout } from '../state/layout.ts';
import { connectProfile, disconnectProfile, editProfile } from '../state/profiles.ts';
import { openView } from '../state/routes.ts';
import { useStore } from '../state/store.ts';
import { VIEW_IDS } from '../state/view-ids.ts';
import { runShortcutWhenThere, type ShortcutAction } from '../ui/shortcut-actions.ts';
import type { Command } from './find-commands.ts';
import { appWords } from './strings.ts';

/** All commands that are possible now, in the order in which they are offered. */
export function commandsNow(setColors: (scheme: MantineColorScheme) => void): Command[] {
  const { profiles, statuses, activeId } = useStore.getState();
  const active = profiles.find(({ id }) => id === activeId);
  return [
    ...VIEW_IDS.map((id) => ({
      id: `view ${id}`,
      label: appWords.views[id],
      kind: 'View',
      run: () => openView(id),
    })),
    ...messageCommands(),
    ...profiles.flatMap((profile) => connectionCommands(profile, statuses[profile.id]?.phase ?? 'idle')),
    ...(active === undefined ? [] : activeCommands(active)),
    ...(['import', 'export'] as const).map((type) => ({
      id: type,
      label: type === 'import' ? 'Import …' : 'Export …',
      kind: 'This page',
      run: () => useStore.setState({ question: { type } }),
    })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `colours ${scheme}`,
      label: `Colours: ${appWords.theme[scheme]}`,
      kind: 'This page',
      run: () => setColors(scheme),
    })),
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      kind: 'This page',
      run: () => useStore.setState({ question: { type: 'shortcuts' } }),
    },
  ];
}

function messageCommands(): Command[] {
  const kind = 'Messages';
  const { isPublishFolded } = useLayout.getState();
  return [
    ...(['publish', 'subscribe', 'filter', 'pause'] as const).map((action) => ({
      id: action,
      label: appWords.shortcuts[action],
      kind,
      run: () => runInMessages(action),
    })),
    {
      id: 'fold',
      label: isPublishFolded ? 'Show the publish panel' : 'Fold the publish panel',
      kind,
      run: () => setLayout({ isPublishFolded: !isPublishFolded }),
    },
  ];
}

function runInMessages(action: ShortcutAction): void {
  openView('messages');
  runShortcutWhenThere(action);
}

function connectionCommands(profile: ConnectionProfile, phase: ConnectionPhase): Command[] {
  const { id, url } = profile;
  const name = profile.name === '' ? 'Unnamed' : profile.name;
  const isOpen = phase !== 'idle' && phase !== 'failed';
  return [
    {
      id: `show ${id}`,
      label: `Show ${name}`,
      kind: url,
      run: () => useStore.setState({ activeId: id }),
    },
    {
      id: `toggle ${id}`,
      label: `${isOpen ? 'Disconnect' : 'Connect'}: ${name}`,
      kind: url,
      run: () => (isOpen ? disconnectProfile(id) : connectProfile(id)),
    },
  ];
}

function activeCommands({ id, name }: ConnectionProfile): Command[] {
  return [
    {
      id: 'new connection',
      label: 'New connection',
      kind: 'Connections',
      run: () => useStore.setState({ question: { type: 'new' } }),
    },
    {
      id: 'edit',
      label: `Edit ${name}`,
      kind: 'Connections',
      run: () => editProfile(id),
    },
  ];
}
