import { Group, UnstyledButton } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { newProfile } from '../../engine/new-profile.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { addProfile } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';
import { useStore } from '../../state/store.ts';
import { formatRate } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { StateDot } from '../../ui/state-dot.tsx';
import classes from './connection-list.module.css';

/** All connections with their state and rate; a click shows one. */
export function ConnectionList({ onSelect }: { readonly onSelect: () => void }) {
  const { t } = useTranslation();
  const profiles = useStore((state) => state.profiles);
  const add = async (): Promise<void> => {
    await addProfile(newProfile('', t('connections.newName')));
    openView('connection');
    onSelect();
  };
  return (
    <>
      <Group justify="space-between" wrap="nowrap" className={classes.head}>
        <h2 className={classes.heading}>{t('connections.list')}</h2>
        <IconButton label={t('connections.add')} size={24} onClick={() => void add()}>
          <IconPlus size={16} stroke={1.75} />
        </IconButton>
      </Group>
      <ul className={classes.list}>
        {profiles.map((profile) => (
          <li key={profile.id}>
            <ConnectionItem profile={profile} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </>
  );
}

function ConnectionItem({
  profile,
  onSelect,
}: {
  readonly profile: ConnectionProfile;
  readonly onSelect: () => void;
}) {
  const { t } = useTranslation();
  const isActive = useStore((state) => state.activeId === profile.id);
  const { phase, traffic } = useStatus(profile.id);
  const select = (): void => {
    useStore.setState({ activeId: profile.id });
    onSelect();
  };
  return (
    <UnstyledButton
      className={classes.item}
      data-active={isActive || undefined}
      aria-pressed={isActive}
      onClick={select}
      title={profile.url}
    >
      <StateDot phase={phase} />
      <span className={classes.name}>{profile.name === '' ? t('connections.unnamed') : profile.name}</span>
      {phase === 'connected' && traffic.messagesInPerSecond > 0 && (
        <span className={classes.rate}>
          {t('app.perSecond', { rate: formatRate(traffic.messagesInPerSecond) })}
        </span>
      )}
    </UnstyledButton>
  );
}
