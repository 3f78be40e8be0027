import { Button, Checkbox, Modal, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { ConnectionProfile, LoggedMessage, MessageLog } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useActiveConnection, useActiveProfile, useLogEnd } from '../../state/hooks.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { secretsOf } from '../../state/secrets.ts';
import { useStore } from '../../state/store.ts';
import { formatCount } from '../../ui/format.ts';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { compileFilter, NO_FILTER, type Predicate } from '../messages/message-filter.ts';
import type { MessageSearch } from '../messages/message-search.ts';
import { useMessagesState } from '../messages/messages-store.ts';
import { loadSearch } from '../messages/use-search.ts';
import { connectionsFile } from './connections-file.ts';
import { MEDIA_TYPES, MESSAGE_FORMATS, type MessageFormat, messagesFile } from './messages-file.ts';
import { savePieces } from './save-pieces.ts';
import { subscriptionsFile } from './subscriptions-file.ts';

const DIRECTIONS = ['all', 'received', 'published'] as const;
const KINDS = ['messages', 'subscriptions', 'connections'] as const;

/** Messages, subscriptions or connections as a file. */
export function ExportDialog({ close }: { readonly close: () => void }) {
  const profile = useActiveProfile();
  const [kind, setKind] = useState<(typeof KINDS)[number]>('messages');
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={t('transfer.exportTitle')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="sm" align="flex-start">
        <SegmentedControl
          aria-label={t('transfer.exportTitle')}
          data={KINDS.map((value) => ({ value, label: t(`transfer.kinds.${value}`) }))}
          value={kind}
          onChange={(value) => setKind(KINDS.find((known) => known === value) ?? 'messages')}
        />
        {kind === 'messages' && profile !== undefined && <ExportMessages profile={profile} />}
        {kind === 'subscriptions' && profile !== undefined && <ExportSubscriptions profile={profile} />}
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

function saveJson(name: string, text: string): void {
  saveBlob(fileName(name, 'json'), new Blob([text], { type: 'application/json' }));
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
    saveJson('connections', connectionsFile(chosen, hasSecrets ? secretsOf : undefined));
  };
  return (
    <>
      <Text size="xs">{t('transfer.connectionsText')}</Text>
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
      <SaveButton isDisabled={profiles.length === 0} save={save}>
        {t('transfer.exportConnections')}
      </SaveButton>
    </>
  );
}

function ExportSubscriptions({ profile: { subscriptions } }: { readonly profile: ConnectionProfile }) {
  return (
    <>
      <Text size="xs">{t('transfer.subscriptionsText', { count: subscriptions.length })}</Text>
      <SaveButton
        isDisabled={subscriptions.length === 0}
        save={() => saveJson('subscriptions', subscriptionsFile(subscriptions))}
      >
        {t('transfer.exportSubscriptions')}
      </SaveButton>
    </>
  );
}

/** The log of a connection. */
function ExportMessages({ profile }: { readonly profile: ConnectionProfile }) {
  const log = useActiveConnection()?.messages;
  const { filter } = useMessagesState(profile.id);
  const [format, setFormat] = useState<MessageFormat>('json');
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('all');
  const [isFiltered, setFiltered] = useState(false);
  const [isWriting, setWriting] = useState(false);
  useLogEnd(log);
  const save = async (): Promise<void> => {
    if (log === undefined) return;
    setWriting(true);
    const { predicate, slow } = compileFilter(isFiltered ? filter : NO_FILTER);
    const chosen = await found(chosenOf(log, direction, predicate), slow && (await loadSearch()).start(slow));
    await savePieces(fileName('messages', format), MEDIA_TYPES[format], messagesFile(chosen, format));
    setWriting(false);
  };
  const count = log?.size ?? 0;
  return (
    <>
      <Text size="xs">
        {count === 0
          ? t('transfer.nothing')
          : t('transfer.messagesText', { count, shown: formatCount(count) })}{' '}
        {t('transfer.payloads')}
      </Text>
      <SegmentedControl
        aria-label={t('transfer.formatLabel')}
        data={MESSAGE_FORMATS.map((value) => ({ value, label: t(`transfer.formats.${value}`) }))}
        value={format}
        onChange={(value) => setFormat(MESSAGE_FORMATS.find((known) => known === value) ?? 'json')}
      />
      <SegmentedControl
        aria-label={t('transfer.directionLabel')}
        data={DIRECTIONS.map((value) => ({ value, label: t(`transfer.directions.${value}`) }))}
        value={direction}
        onChange={(value) => setDirection(DIRECTIONS.find((known) => known === value) ?? 'all')}
      />
      {filter !== NO_FILTER && (
        <Checkbox
          label={t('transfer.onlyFiltered')}
          checked={isFiltered}
          onChange={(event) => setFiltered(event.currentTarget.checked)}
        />
      )}
      <SaveButton isDisabled={count === 0} isWriting={isWriting} save={() => void save()}>
        {isWriting ? t('transfer.exporting') : t('transfer.exportMessages')}
      </SaveButton>
    </>
  );
}

/** Held messages stay readable, even when the log drops them meanwhile. */
function chosenOf(
  log: MessageLog,
  direction: (typeof DIRECTIONS)[number],
  predicate: Predicate | undefined,
): readonly LoggedMessage[] {
  const chosen: LoggedMessage[] = [];
  for (let sequence = log.firstSequence; sequence < log.endSequence; sequence += 1) {
    const message = log.at(sequence);
    if (message === undefined || (direction !== 'all' && message.direction !== direction)) continue;
    if (predicate?.(message) !== false) chosen.push(message);
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
