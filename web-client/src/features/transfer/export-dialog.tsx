import { Button, Checkbox, Modal, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { ConnectionProfile, LoggedMessage, MessageLog } from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useLogEnd } from '../../state/hooks.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { secretsOf } from '../../state/secrets.ts';
import { useStore } from '../../state/store.ts';
import { formatCount, plural } from '../../ui/format.ts';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { compileFilter, NO_FILTER, type Predicate } from '../messages/message-filter.ts';
import type { MessageSearch } from '../messages/message-search.ts';
import { useMessagesState } from '../messages/messages-store.ts';
import { loadSearch } from '../messages/use-search.ts';
import { connectionsFile } from './connections-file.ts';
import { MEDIA_TYPES, MESSAGE_FORMATS, type MessageFormat, messagesFile } from './messages-file.ts';
import { savePieces } from './save-pieces.ts';
import { transferWords } from './strings.ts';

const KINDS = ['messages', 'connections'] as const;

/** Messages or connections as a file. */
export function ExportDialog({ close }: { readonly close: () => void }) {
  const profile = useActiveProfile();
  const [kind, setKind] = useState<(typeof KINDS)[number]>('messages');
  return (
    <Modal opened onClose={close} size="lg" title="Export">
      <Stack gap="sm" align="flex-start">
        <SegmentedControl
          aria-label="Export"
          data={KINDS.map((value) => ({ value, label: transferWords.kinds[value] }))}
          value={kind}
          onChange={setKind}
        />
        {kind === 'messages' && profile !== undefined && <ExportMessages profile={profile} />}
        {kind === 'connections' && <ExportConnections />}
      </Stack>
    </Modal>
  );
}

interface SaveButtonProps {
  readonly isDisabled: boolean;
  readonly isWriting?: boolean;
  readonly save: () => void;
  readonly children: ReactNode;
}

function SaveButton({ isDisabled, isWriting = false, save, children }: SaveButtonProps) {
  return (
    <Button
      leftSection={<IconDownload size={14} stroke={1.5} />}
      loading={isWriting}
      disabled={isDisabled}
      onClick={save}
    >
      {children}
    </Button>
  );
}

/** Without secrets unless the user asks for them. */
function ExportConnections() {
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
    <>
      <Text size="xs">With their whole configuration and their subscriptions.</Text>
      <Select
        label="Which connections"
        data={[
          { value: 'all', label: plural(profiles.length, 'The only one', `All ${profiles.length}`) },
          { value: 'active', label: `Only “${active?.name ?? ''}”` },
        ]}
        value={isActiveOnly ? 'active' : 'all'}
        onChange={(value) => setActiveOnly(value === 'active')}
      />
      <Checkbox
        label="With passwords and tokens"
        description={
          hasSecrets
            ? 'Unencrypted: anyone with the file can connect.'
            : 'Secrets are left out, also those in URLs and user properties.'
        }
        checked={hasSecrets}
        onChange={(event) => setHasSecrets(event.currentTarget.checked)}
      />
      <SaveButton isDisabled={profiles.length === 0} save={save}>
        Export connections
      </SaveButton>
    </>
  );
}

function ExportMessages({ profile }: { readonly profile: ConnectionProfile }) {
  const log = useActiveConnection()?.messages;
  const { filter } = useMessagesState(profile.id);
  const [format, setFormat] = useState<MessageFormat>('json');
  const [isFiltered, setFiltered] = useState(false);
  const [isWriting, setWriting] = useState(false);
  useLogEnd(log);
  const save = async (): Promise<void> => {
    if (log === undefined) return;
    setWriting(true);
    const { predicate, slow } = compileFilter(isFiltered ? filter : NO_FILTER);
    const chosen = await found(chosenOf(log, predicate), slow && (await loadSearch()).start(slow));
    await savePieces(fileName('messages', format), MEDIA_TYPES[format], messagesFile(chosen, format));
    setWriting(false);
  };
  const count = log?.size ?? 0;
  return (
    <>
      <Text size="xs">
        {count === 0
          ? 'There is nothing to export yet.'
          : plural(
              count,
              `${formatCount(count)} message of the log, with payload, properties and time.`,
              `${formatCount(count)} messages of the log, with payloads, properties and times.`,
            )}{' '}
        Payloads are written as base64, byte for byte, and beside it as text where they are text.
      </Text>
      <SegmentedControl
        aria-label="Format"
        data={MESSAGE_FORMATS.map((value) => ({ value, label: transferWords.formats[value] }))}
        value={format}
        onChange={setFormat}
      />
      {filter !== NO_FILTER && (
        <Checkbox
          label="Only what the filter of the Messages view shows"
          checked={isFiltered}
          onChange={(event) => setFiltered(event.currentTarget.checked)}
        />
      )}
      <SaveButton isDisabled={count === 0} isWriting={isWriting} save={() => void save()}>
        {isWriting ? 'Writing …' : 'Export messages'}
      </SaveButton>
    </>
  );
}

/** Held messages stay readable, even when the log drops them meanwhile. */
function chosenOf(log: MessageLog, predicate: Predicate | undefined): readonly LoggedMessage[] {
  const chosen: LoggedMessage[] = [];
  for (let sequence = log.firstSequence; sequence < log.endSequence; sequence += 1) {
    const message = log.at(sequence);
    if (message !== undefined && predicate?.(message) !== false) chosen.push(message);
  }
  return chosen;
}

/** Messages that a search takes at a time. */
const SEARCHED_AT_A_TIME = 100;

async function found(
  messages: readonly LoggedMessage[],
  search: MessageSearch | undefined,
): Promise<readonly LoggedMessage[]> {
  if (search === undefined) return messages;
  const fitting: LoggedMessage[] = [];
  for (let at = 0; at < messages.length; at += SEARCHED_AT_A_TIME) {
    const some = messages.slice(at, at + SEARCHED_AT_A_TIME);
    const answers = await search.test(some);
    fitting.push(...some.filter((_, index) => answers[index] === true));
  }
  search.close();
  return fitting;
}
