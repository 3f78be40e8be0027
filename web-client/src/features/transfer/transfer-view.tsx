import { Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useActiveProfile } from '../../state/hooks.ts';
import { ExportConnections } from './export-connections.tsx';
import { ExportMessages } from './export-messages.tsx';
import { ExportSubscriptions } from './export-subscriptions.tsx';
import { ImportCard } from './import-card.tsx';
import classes from './transfer-view.module.css';

/** Files in and out: connections, subscriptions, messages. */
export function TransferView() {
  const { t } = useTranslation();
  const profile = useActiveProfile();
  return (
    <div className={classes.view}>
      <Title order={2} size="h4">
        {t('transfer.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t('transfer.intro')}
      </Text>
      <div className={classes.columns}>
        <ImportCard />
        <div className={classes.column}>
          <ExportConnections />
          {profile !== undefined && (
            <>
              <ExportSubscriptions profile={profile} />
              <ExportMessages key={profile.id} profile={profile} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}
