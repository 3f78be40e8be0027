import { Text, UnstyledButton } from '@mantine/core';
import { IconChevronUp } from '@tabler/icons-react';
import { lazy, useEffect } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './publish-panel.module.css';
import { unfoldPublish, useDraft } from './publish-store.ts';

/** Its code is fetched when it is first opened. */
export const PublishPanel = lazy(async () => ({
  default: (await import('./publish-panel.tsx')).PublishPanel,
}));

/** The panel to publish as a bar, which leaves the window to the messages. */
export function FoldedPublish({ profile }: { readonly profile: ConnectionProfile }) {
  const { topic } = useDraft(profile.id);
  useEffect(() => provideShortcut('publish', unfoldPublish), []);
  return (
    <UnstyledButton className={classes.folded} aria-expanded={false} onClick={unfoldPublish}>
      <IconChevronUp size={16} stroke={1.5} aria-hidden />
      Publish a message
      <Text size="xs" c="dimmed" truncate component="span">
        {visibleText(topic)}
      </Text>
    </UnstyledButton>
  );
}
