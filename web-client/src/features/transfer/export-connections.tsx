import { Button, Checkbox, Select, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useActiveProfile } from '../../state/hooks.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { secretsOf } from '../../state/secrets.ts';
import { useStore } from '../../state/store.ts';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { connectionsFile } from './connections-file.ts';
import classes from './transfer-view.module.css';

/** Connections as a file, without secrets unless the user asks for them. */
export function ExportConnections() {
  const { t } = useTranslation();
  const profiles = useStore((state) => state.profiles).filter(({ id }) => !isRecording(id));
  const shown = useActiveProfile();
  const active = profiles.find(({ id }) => id === shown?.id) ?? profiles[0];
  const [isActiveOnly, setActiveOnly] = useState(false);
  const [hasSecrets, setHasSecrets] = useState(false);
  const save = (): void => {
    const chosen = profiles.filter(({ id }) => !isActiveOnly || id === active?.id);
    const text = connectionsFile(chosen, hasSecrets ? secretsOf : undefined);
    saveBlob(fileName('connections', 'json'), new Blob([text], { type: 'application/json' }));
  };
  return (
    <section className={classes.card} aria-labelledby="export-connections">
      <h3 className={classes.heading} id="export-connections">
        {t('transfer.connections')}
      </h3>
      <Text size="xs" c="dimmed">
        {t('transfer.connectionsText')}
      </Text>
      <div className={classes.fields}>
        <Select
          label={t('transfer.whichLabel')}
          data={[
            { value: 'all', label: t('transfer.whichAll', { count: profiles.length }) },
            { value: 'active', label: t('transfer.whichActive', { name: active?.name ?? '' }) },
          ]}
          value={isActiveOnly ? 'active' : 'all'}
          onChange={(value) => setActiveOnly(value === 'active')}
        />
        <Checkbox
          label={t('transfer.withSecrets')}
          description={hasSecrets ? t('transfer.withSecretsHint') : t('transfer.withoutSecretsHint')}
          checked={hasSecrets}
          onChange={(event) => setHasSecrets(event.currentTarget.checked)}
        />
      </div>
      <Button
        variant="default"
        leftSection={<IconDownload size={14} stroke={1.5} />}
        disabled={profiles.length === 0}
        onClick={save}
      >
        {t('transfer.exportConnections')}
      </Button>
    </section>
  );
}
