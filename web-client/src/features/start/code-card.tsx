import { Anchor, Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import type { ConnectionProfile, Door } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type SnippetLanguage, snippetFor } from './snippets.ts';
import classes from './start-view.module.css';

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
    <section className={`${classes.card} ${classes.code}`} aria-label={t('start.code')}>
      <Group justify="space-between" gap="xs">
        <div>
          <Text component="h3" className={classes.cardTitle}>
            {t('start.code')}
          </Text>
          <Text size="xs" c="dimmed">
            {t('start.codeText')}
          </Text>
        </div>
        <Group gap="xs">
          <SegmentedControl
            aria-label={t('start.language')}
            data={LANGUAGES.map((value) => ({ value, label: t(`start.languages.${value}`) }))}
            value={language}
            onChange={(value) => setLanguage(LANGUAGES.find((known) => known === value) ?? 'javascript')}
          />
          <SegmentedControl
            aria-label={t('start.door')}
            data={DOORS.map((value) => ({ value, label: t(`start.${value}Door`) }))}
            value={door}
            onChange={(value) => setChosen(DOORS.find((known) => known === value) ?? 'node')}
          />
          {!isForJavaScriptOnly && <CopyButton text={code} label={t('start.copyCode')} />}
        </Group>
      </Group>
      {isForJavaScriptOnly ? (
        <Text size="sm">{t('start.gatewayOnlyJs')}</Text>
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key */}
          <pre className={classes.pre} tabIndex={0}>
            <code>{code}</code>
          </pre>
          {door === 'gateway' && (
            <Text size="xs" c="dimmed">
              {t('start.packed')}
            </Text>
          )}
          <Text className={classes.install}>{install}</Text>
        </>
      )}
      <Group gap="md">
        <Anchor size="xs" href="#/messages">
          {t('start.nextMessages')}
        </Anchor>
        <Anchor size="xs" href="#/wire">
          {t('start.nextPackets')}
        </Anchor>
        <Anchor size="xs" href="#/connection">
          {t('start.nextConnection')}
        </Anchor>
      </Group>
    </section>
  );
}
