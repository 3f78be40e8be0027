import { Button, FileButton, Group, SegmentedControl, Text } from '@mantine/core';
import { IconCode, IconFileUpload } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { publishLength } from '../../engine/wire/publish-length.ts';
import type { Draft, PayloadFormat } from '../../state/draft.ts';
import { usePacketBytesMax, useStatus } from '../../state/hooks.ts';
import { formatBytes } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { converted, jsonProblem, payloadBytes, propertiesOf } from './draft-request.ts';
import { PAYLOAD_FILE_BYTES_MAX, payloadOfFile } from './payload-file.ts';
import { PayloadText } from './payload-text.tsx';
import classes from './publish-panel.module.css';
import { setDraft } from './publish-store.ts';
import { publishWords } from './strings.ts';

const FORMATS = ['json', 'text', 'hex', 'base64'] as const;

interface PayloadEditorProps {
  readonly profile: ConnectionProfile;
  readonly draft: Draft;
  /** The draft a moment ago, as far as it has been read. */
  readonly readDraft: Draft;
}

export function PayloadEditor({ profile, draft, readDraft }: PayloadEditorProps) {
  const { id } = profile;
  const { format, payload } = draft;
  const [isCode, setCode] = useState(false);
  const [problem, setProblem] = useState('');
  const take = async (file: File | null | undefined): Promise<void> => {
    if (file === null || file === undefined) return;
    const read = await payloadOfFile(file);
    const max = formatBytes(PAYLOAD_FILE_BYTES_MAX);
    setProblem(read === undefined ? `${file.name} is larger than ${max}.` : '');
    if (read !== undefined) setDraft(id, read);
  };
  return (
    <DropArea onFile={take}>
      <Group gap={6} className={classes.editorHead} wrap="nowrap">
        <FormatControls id={id} draft={draft} readDraft={readDraft} onProblem={setProblem} />
        <IconButton
          label="Code editor: colours, brackets, completion of quotes"
          aria-pressed={isCode}
          variant={isCode ? 'light' : 'subtle'}
          onClick={() => setCode(!isCode)}
        >
          <IconCode size={16} stroke={1.5} />
        </IconButton>
        <FileButton onChange={(file) => void take(file)} inputProps={{ 'aria-label': 'Payload file' }}>
          {(props) => (
            <IconButton label="Take the payload from a file, or drop one here" {...props}>
              <IconFileUpload size={16} stroke={1.5} />
            </IconButton>
          )}
        </FileButton>
        {problem !== '' && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {problem}
          </Text>
        )}
        <Size profile={profile} draft={readDraft} />
      </Group>
      <div className={classes.code}>
        <PayloadText
          label="Payload"
          isJson={format === 'json'}
          value={payload}
          onChange={(text) => {
            setDraft(id, { payload: text });
            setProblem('');
          }}
          isCode={isCode}
          openCode={() => setCode(true)}
        />
      </div>
    </DropArea>
  );
}

interface DropAreaProps {
  readonly onFile: (file: File) => Promise<void>;
  readonly children: ReactNode;
}

/** Takes a file that is dropped anywhere on the editor. */
function DropArea({ onFile, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  const dropped = (event: DragEvent): void => {
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file === undefined) return;
    // The editor would insert the file's bytes as text, even if they are none.
    event.preventDefault();
    event.stopPropagation();
    void onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the mouse's way to do what the button does
    <div
      className={classes.editor}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDropCapture={dropped}
    >
      {children}
    </div>
  );
}

interface FormatControlsProps extends Pick<PayloadEditorProps, 'draft' | 'readDraft'> {
  readonly id: string;
  /** Empty: there is none. */
  readonly onProblem: (problem: string) => void;
}

/** The format of the payload, and for JSON a button that indents it. */
function FormatControls({ id, draft, readDraft, onProblem }: FormatControlsProps) {
  const { format, payload } = draft;
  const canFormat =
    format === 'json' && readDraft.payload.trim() !== '' && jsonProblem(readDraft.payload) === undefined;
  const prettify = (): void => {
    // The last result may belong to an older text.
    if (jsonProblem(payload) !== undefined) return;
    setDraft(id, { payload: JSON.stringify(JSON.parse(payload), undefined, 2) });
  };
  const choose = (value: string): void => {
    const changes = converted(draft, formatOf(value));
    if (typeof changes === 'string') {
      onProblem(publishWords.problems[changes]);
      return;
    }
    onProblem('');
    setDraft(id, changes);
  };
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Payload format"
        data={FORMATS.map((value) => ({ value, label: publishWords.formats[value] }))}
        value={format}
        onChange={choose}
      />
      {format === 'json' && (
        <Button variant="subtle" size="compact-xs" flex="none" disabled={!canFormat} onClick={prettify}>
          Format the JSON
        </Button>
      )}
    </>
  );
}

/** How large the payload is, and whether its packet is larger than the server takes. */
function Size({ profile, draft }: Pick<PayloadEditorProps, 'profile' | 'draft'>) {
  const max = usePacketBytesMax(profile);
  const { phase } = useStatus(profile.id);
  const payload = payloadBytes(draft.payload, draft.format);
  if (payload === undefined) return null;
  const { topic, qos, properties } = draft;
  const request = { topic, qos, payload, properties: propertiesOf(properties) };
  const over = max === undefined ? 0 : publishLength(request, profile.protocolVersion) - max;
  const size = formatBytes(payload.length);
  // With MQTT 5, a server that names no limit has none.
  const isUnknown = max === undefined && phase === 'connected' && profile.protocolVersion !== 5;
  const sizeWithLimit = isUnknown ? `${size}, limit unknown` : size;
  const text = max === undefined ? sizeWithLimit : `${size} of ${formatBytes(max)}`;
  return (
    <Text
      size="xs"
      c={over > 0 ? 'var(--mantine-color-error)' : 'dimmed'}
      ml="auto"
      data-testid="size"
      title={
        isUnknown
          ? 'In MQTT 3.1.1 a server does not say how large a packet may be. It may close the connection at one that is too large.'
          : undefined
      }
    >
      {over > 0 ? `${text} · ${`Too large by ${formatBytes(over)}`}` : text}
    </Text>
  );
}

function formatOf(value: string): PayloadFormat {
  return FORMATS.find((format) => format === value) ?? 'text';
}
