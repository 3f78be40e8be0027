import { Alert, Button, FileButton, Group, Modal, Progress, Text } from '@mantine/core';
import { IconAlertTriangle, IconUpload } from '@tabler/icons-react';
import { type DragEvent, useRef, useState } from 'react';
import { fill, formatBytes, formatCount } from '../../ui/format.ts';
import { FileProblem } from './file-problem.ts';
import { FoundConnections } from './found-connections.tsx';
import { FoundMessages } from './found-messages.tsx';
import { CONNECTIONS_MAX, FILE_BYTES_MAX, MESSAGES_MAX } from './limits.ts';
import type { FileContent } from './read-file.ts';
import { transferWords } from './strings.ts';
import classes from './transfer.module.css';
import { putFileAside, takeFile, useTransfer } from './transfer-store.ts';
import { useDropGuard } from './use-drop-guard.ts';

/** Takes a file, shows its contents, and asks what to do with them. Reading goes on behind a closed dialog. */
export function ImportDialog({ close }: { readonly close: () => void }) {
  const file = useTransfer((state) => state.file);
  const [isOver, setOver] = useState(false);
  const reset = useRef<() => void>(null);
  useDropGuard();
  const choose = (chosen: File | null): void => {
    if (chosen === null) return;
    takeFile(chosen);
    // Otherwise a browser reports no change if the same file is chosen again after it was corrected.
    reset.current?.();
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) takeFile(dropped);
  };
  return (
    <Modal opened onClose={close} size="lg" title="Import">
      <Text size="xs" c="dimmed">
        Connections, or messages as JSON or JSON Lines. You see what is in the file before anything happens.
        It stays on this machine; the client’s README describes the formats.
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
        <FileButton onChange={choose} resetRef={reset} accept=".json,.jsonl,.ndjson">
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={14} stroke={1.5} />}>
              Choose a file
            </Button>
          )}
        </FileButton>
        <Text size="xs">or drop it here</Text>
        <Text size="xs" c="dimmed" w="100%">
          {`At most ${formatBytes(FILE_BYTES_MAX)}, ${formatCount(MESSAGES_MAX)} messages, ${formatCount(CONNECTIONS_MAX)} connections.`}
        </Text>
      </div>
      {file !== undefined && (
        <>
          <Group justify="space-between" gap="xs" mb={6}>
            <Text size="xs" fw={600} className={classes.name}>
              {file.result === undefined
                ? `Reading ${file.name} …`
                : `${file.name}, ${formatBytes(file.bytes)}`}
            </Text>
            <Button variant="default" size="compact-xs" onClick={putFileAside}>
              {file.result === undefined ? 'Cancel' : 'Put the file aside'}
            </Button>
          </Group>
          {file.result === undefined && <Progress value={100} animated aria-label="Import" />}
          <div aria-live="polite">
            {file.result !== undefined && <Found key={file.number} result={file.result} close={close} />}
          </div>
        </>
      )}
    </Modal>
  );
}

interface FoundProps {
  readonly result: FileContent | FileProblem;
  readonly close: () => void;
}

function Found({ result, close }: FoundProps) {
  if (result instanceof FileProblem) return <Problem problem={result} />;
  if (result.type === 'connections') return <FoundConnections {...result} />;
  return <FoundMessages messages={result.messages} close={close} />;
}

function Problem({ problem: { key, values, place } }: { readonly problem: FileProblem }) {
  const where =
    place === undefined ? '' : place.kind === 'line' ? `Line ${place.number}` : `Entry ${place.number}`;
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title="This file cannot be imported"
    >
      <Text size="sm">{fill(transferWords.problems[key], { ...values, place: where })}</Text>
      <Text size="xs" mt={4}>
        Nothing was taken from it.
      </Text>
    </Alert>
  );
}
