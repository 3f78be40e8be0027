import { Anchor, Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConnectionProfile, Door } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type SnippetLanguage, snippetFor } from './snippets.ts';
import classes from './start-view.module.css';
import { startWords } from './strings.ts';

const DOORS = ['node', 'gateway'] as const;
const LANGUAGES = ['javascript', 'shell'] as const;

/** The lines to do the same in one's own app, at either door. */
export function CodeCard({ profile }: { readonly profile: ConnectionProfile }) {
  const detected = useStatus(profile.id).door;
  const profiles = useStore((state) => state.profiles);
  const [chosen, setChosen] = useState<Door>();
  const [language, setLanguage] = useState<SnippetLanguage>('javascript');
  const own = profile.door === 'auto' ? detected : profile.door;
  const door = chosen ?? own ?? 'node';
  // The broker that served this page has told where its other door is.
  const other = profiles.find((known) => known.door === door);
  const { url, username, needs } = door === own ? profile : (other ?? profile);
  const isForJavaScriptOnly = door === 'gateway' && language === 'shell';
  const { install, code } = snippetFor(language, door, { url, username, needsPassword: needs.password });
  return (
    <section className={`${classes.card} ${classes.code}`} aria-label="The same in your own app">
      <Group justify="space-between" gap="xs">
        <div>
          <Text component="h3" className={classes.cardTitle}>
            The same in your own app
          </Text>
          <Text size="xs" c="dimmed">
            Copy it: the messages that your app publishes appear under Messages.
          </Text>
        </div>
        <Group gap="xs">
          <SegmentedControl
            aria-label="Language"
            data={LANGUAGES.map((value) => ({ value, label: startWords.languages[value] }))}
            value={language}
            onChange={setLanguage}
          />
          <SegmentedControl
            aria-label="Door"
            data={DOORS.map((value) => ({ value, label: value === 'node' ? 'Node door' : 'Gateway door' }))}
            value={door}
            onChange={setChosen}
          />
          {!isForJavaScriptOnly && <CopyButton text={code} label="Copy the code" />}
        </Group>
      </Group>
      {isForJavaScriptOnly ? (
        <Text size="sm">
          The gateway door speaks text frames: clients need the Apus transport, which is for JavaScript.
        </Text>
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key */}
          <pre className={classes.pre} tabIndex={0}>
            <code>{code}</code>
          </pre>
          {door === 'gateway' && (
            <Text size="xs" c="dimmed">
              The transport comes from Apus’s repository: the first line runs there, the second in your app.
            </Text>
          )}
          <Text className={classes.install}>{install}</Text>
        </>
      )}
      <Group gap="md">
        <Anchor size="xs" href="#/messages">
          See messages as they flow
        </Anchor>
        <Anchor size="xs" href="#/wire">
          Read the packets byte by byte
        </Anchor>
        <Anchor size="xs" href="#/connection">
          Change how this page connects
        </Anchor>
      </Group>
    </section>
  );
}
