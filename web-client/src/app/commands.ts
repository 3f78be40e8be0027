import type { MantineColorScheme } from '@mantine/core';
import type { ConnectionPhase, ConnectionProfile } from '../engine/types.ts';
import { t } from '../i18n/index.ts';
import { setLayout, useLayout } from '../state/layout.ts';
import { connectProfile, disconnectProfile, editProfile } from '../state/profiles.ts';
import { openView } from '../state/routes.ts';
import { useStore } from '../state/store.ts';
import { VIEW_IDS } from '../state/view-ids.ts';
import { runShortcutWhenThere, type ShortcutAction } from '../ui/shortcut-actions.ts';
import type { Command } from './find-commands.ts';

/** All commands that are possible now, in the order in which they are offered. */
export function commandsNow(setColors: (scheme: MantineColorScheme) => void): Command[] {
  const { profiles, statuses, activeId } = useStore.getState();
  const active = profiles.find(({ id }) => id === activeId);
  return [
    ...VIEW_IDS.map((id) => ({
      id: `view ${id}`,
      label: t(`app.views.${id}`),
      kind: t('app.palette.view'),
      run: () => openView(id),
    })),
    ...messageCommands(),
    ...profiles.flatMap((profile) => connectionCommands(profile, statuses[profile.id]?.phase ?? 'idle')),
    ...(active === undefined ? [] : activeCommands(active)),
    ...(['import', 'export'] as const).map((type) => ({
      id: type,
      label: t(`connections.${type}`),
      kind: t('app.palette.page'),
      run: () => useStore.setState({ question: { type } }),
    })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `colours ${scheme}`,
      label: t('app.palette.colours', { name: t(`app.theme.${scheme}`) }),
      kind: t('app.palette.page'),
      run: () => setColors(scheme),
    })),
    {
      id: 'shortcuts',
      label: t('app.shortcuts.label'),
      kind: t('app.palette.page'),
      run: () => useStore.setState({ question: { type: 'shortcuts' } }),
    },
  ];
}

function messageCommands(): Command[] {
  const kind = t('app.views.messages');
  const { isPublishFolded } = useLayout.getState();
  return [
    ...(['publish', 'subscribe', 'filter', 'pause'] as const).map((action) => ({
      id: action,
      label: t(`app.shortcuts.${action}`),
      kind,
      run: () => runInMessages(action),
    })),
    {
      id: 'fold',
      label: t(isPublishFolded ? 'publish.showPanel' : 'publish.fold'),
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
  const name = profile.name === '' ? t('connections.unnamed') : profile.name;
  const isOpen = phase !== 'idle' && phase !== 'failed';
  return [
    {
      id: `show ${id}`,
      label: t('connections.select', { name }),
      kind: url,
      run: () => useStore.setState({ activeId: id }),
    },
    {
      id: `toggle ${id}`,
      label: `${t(isOpen ? 'connections.disconnect' : 'connections.connect')}: ${name}`,
      kind: url,
      run: () => (isOpen ? disconnectProfile(id) : connectProfile(id)),
    },
  ];
}

function activeCommands({ id, name }: ConnectionProfile): Command[] {
  return [
    {
      id: 'new connection',
      label: t('connections.add'),
      kind: t('connections.list'),
      run: () => useStore.setState({ question: { type: 'new' } }),
    },
    {
      id: 'edit',
      label: t('connections.editOf', { name }),
      kind: t('connections.list'),
      run: () => editProfile(id),
    },
    {
      id: 'share',
      label: t('connections.shareTitle', { name }),
      kind: t('connections.list'),
      run: () => useStore.setState({ question: { type: 'share', id } }),
    },
  ];
}
