import { Alert, Button, FileButton, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconUpload } from '@tabler/icons-react';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { FileProblem } from './file-problem.ts';
import { FoundConnections } from './found-connections.tsx';
import { FoundMessages } from './found-messages.tsx';
import { FoundSubscriptions } from './found-subscriptions.tsx';
import { CONNECTIONS_MAX, FILE_BYTES_MAX, MESSAGES_MAX } from './limits.ts';
import { type FileContent, readFile } from './read-file.ts';
import { useTransfer } from './transfer-store.ts';
import classes from './transfer-view.module.css';

/** Takes a file, shows what is in it, and asks what to do with that. */
export function ImportCard() {
  const { t } = useTranslation();
  const file = useTransfer((state) => state.file);
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) void take(dropped);
  };
  return (
    <section className={classes.card} aria-labelledby="import">
      <h3 className={classes.heading} id="import">
        {t('transfer.importTitle')}
      </h3>
      <Text size="xs" c="dimmed">
        {t('transfer.importText')}
      </Text>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is the mouse's way to do what the button does */}
      <div
        className={classes.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <FileButton
          onChange={(chosen) => chosen !== null && void take(chosen)}
          accept=".json,.jsonl,.ndjson,.csv"
        >
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={14} stroke={1.5} />}>
              {t('transfer.choose')}
            </Button>
          )}
        </FileButton>
        <Text size="xs">{t('transfer.drop')}</Text>
        <Text size="xs" c="dimmed" w="100%">
          {t('transfer.limits', {
            bytes: formatBytes(FILE_BYTES_MAX),
            messages: formatCount(MESSAGES_MAX),
            connections: formatCount(CONNECTIONS_MAX),
          })}
        </Text>
      </div>
      {file !== undefined && (
        <>
          <Group justify="space-between" gap="xs" mb={6}>
            <Text size="xs" fw={600} className={classes.name}>
              {file.result === undefined
                ? t('transfer.reading', { name: file.name })
                : t('transfer.file', { name: file.name, bytes: formatBytes(file.bytes) })}
            </Text>
            <Button
              variant="default"
              size="compact-xs"
              onClick={() => useTransfer.setState({ file: undefined })}
            >
              {t('transfer.close')}
            </Button>
          </Group>
          <div aria-live="polite">
            {file.result !== undefined && <Found key={file.number} result={file.result} />}
          </div>
        </>
      )}
    </section>
  );
}

function Found({ result }: { readonly result: FileContent | FileProblem }) {
  if (result instanceof FileProblem) return <Problem problem={result} />;
  if (result.type === 'connections') return <FoundConnections {...result} />;
  if (result.type === 'subscriptions') return <FoundSubscriptions {...result} />;
  return <FoundMessages messages={result.messages} />;
}

function Problem({ problem: { key, values, place } }: { readonly problem: FileProblem }) {
  const { t } = useTranslation();
  const where = place === undefined ? '' : t(`transfer.places.${place.kind}`, { number: place.number });
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title={t('transfer.problemTitle')}
    >
      <Text size="sm">{t(`transfer.problems.${key}`, { ...values, place: where })}</Text>
      <Text size="xs" mt={4}>
        {t('transfer.problemNothing')}
      </Text>
    </Alert>
  );
}

async function take(file: File): Promise<void> {
  const chosen = {
    name: file.name,
    bytes: file.size,
    number: (useTransfer.getState().file?.number ?? 0) + 1,
  };
  useTransfer.setState({ file: { ...chosen, result: undefined } });
  const result = await readFile(file).catch((error: unknown) =>
    error instanceof FileProblem ? error : new FileProblem('unreadable', { detail: String(error) }),
  );
  // Another one may have been chosen while this one was read.
  if (useTransfer.getState().file?.number === chosen.number)
    useTransfer.setState({ file: { ...chosen, result } });
}
