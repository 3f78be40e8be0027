import { Button, Checkbox, Group, SegmentedControl, TextInput } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconChevronDown, IconSend2 } from '@tabler/icons-react';
import {
  type FormEvent,
  type KeyboardEvent,
  lazy,
  Suspense,
  useDeferredValue,
  useEffect,
  useRef,
} from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { HistoryMenu } from './history-menu.tsx';
import { PayloadEditor } from './payload-editor.tsx';
import classes from './publish-panel.module.css';
import { setDraft, useDraft } from './publish-store.ts';
import { SendingStatus } from './sending-status.tsx';
import { useSend } from './use-send.ts';

const PropertiesSection = lazy(async () => ({
  default: (await import('./properties-section.tsx')).PropertiesSection,
}));

const LEVELS = [0, 1, 2] as const;
const ICON = { size: 16, stroke: 1.5 } as const;

interface PublishPanelProps {
  readonly profile: ConnectionProfile;
  /** Folds the panel into a bar; undefined if it has a page to itself. */
  readonly fold?: () => void;
}

/** Topic, payload and the other fields of a message. */
export function PublishPanel({ profile, fold }: PublishPanelProps) {
  const { id } = profile;
  const draft = useDraft(id);
  // A large payload is read in a separate task, and not between a key press and its letter.
  const readDraft = useDeferredValue(draft);
  const { phase } = useStatus(id);
  const isWide = useLayout((layout) => layout.areSectionsOpen);
  const { sending, send } = useSend(profile);
  const topicInput = useRef<HTMLInputElement>(null);
  useEffect(() => provideShortcut('publish', () => topicInput.current?.focus()), []);
  const isConnected = phase === 'connected';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void send(draft);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (isConnected) void send(draft);
  };
  return (
    <form className={classes.panel} aria-label="Publish" onSubmit={submit} onKeyDownCapture={pressed}>
      <Group gap={6} className={classes.head}>
        <TextInput
          ref={topicInput}
          className={classes.topic}
          aria-label="Topic"
          placeholder="Topic, as home/kitchen/light"
          spellCheck={false}
          value={draft.topic}
          onChange={(event) => setDraft(id, { topic: event.currentTarget.value })}
        />
        <SegmentedControl
          aria-label="QoS"
          data={LEVELS.map((value) => ({ value, label: `QoS ${value}` }))}
          value={draft.qos}
          onChange={(qos) => setDraft(id, { qos })}
        />
        <Checkbox
          label="Retain"
          checked={draft.retain}
          onChange={(event) => setDraft(id, { retain: event.currentTarget.checked })}
        />
        <Button
          type="submit"
          leftSection={<IconSend2 {...ICON} />}
          disabled={!isConnected}
          title={isConnected ? 'Ctrl+Enter' : 'Connect first'}
        >
          Publish
        </Button>
        <Group gap={2} wrap="nowrap" ml="auto">
          <HistoryMenu id={id} />
          <IconButton
            label={isWide ? 'Hide the properties' : 'Properties'}
            aria-expanded={isWide}
            variant={isWide ? 'light' : 'subtle'}
            onClick={() => setLayout({ areSectionsOpen: !isWide })}
          >
            <IconAdjustmentsHorizontal {...ICON} />
          </IconButton>
          {fold !== undefined && (
            <IconButton label="Fold the publish panel" aria-expanded onClick={fold}>
              <IconChevronDown {...ICON} />
            </IconButton>
          )}
        </Group>
      </Group>
      <div className={classes.body}>
        <PayloadEditor profile={profile} draft={draft} readDraft={readDraft} />
        {isWide && (
          <div className={classes.sections}>
            <Suspense>
              <PropertiesSection profile={profile} draft={draft} />
            </Suspense>
          </div>
        )}
      </div>
      <SendingStatus sending={sending} draft={readDraft} protocolVersion={profile.protocolVersion} />
    </form>
  );
}
