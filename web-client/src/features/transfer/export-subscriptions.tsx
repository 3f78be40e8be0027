import { Button, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile } from '../../engine/types.ts';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { subscriptionsFile } from './subscriptions-file.ts';
import classes from './transfer-view.module.css';

export function ExportSubscriptions({ profile }: { readonly profile: ConnectionProfile }) {
  const { t } = useTranslation();
  const { subscriptions } = profile;
  const save = (): void => {
    const blob = new Blob([subscriptionsFile(subscriptions)], { type: 'application/json' });
    saveBlob(fileName('subscriptions', 'json'), blob);
  };
  return (
    <section className={classes.card} aria-labelledby="export-subscriptions">
      <h3 className={classes.heading} id="export-subscriptions">
        {t('transfer.subscriptions', { name: profile.name })}
      </h3>
      <Text size="xs" c="dimmed" mb="sm">
        {t('transfer.subscriptionsText', { count: subscriptions.length })}
      </Text>
      <Button
        variant="default"
        leftSection={<IconDownload size={14} stroke={1.5} />}
        disabled={subscriptions.length === 0}
        onClick={save}
      >
        {t('transfer.exportSubscriptions')}
      </Button>
    </section>
  );
}
