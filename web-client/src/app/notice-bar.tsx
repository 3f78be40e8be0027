import { Anchor, Group, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useStore } from '../state/store.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { say, useNotice } from '../ui/notice.ts';
import classes from './notice-bar.module.css';

/** Below every view, in its own place, so that a notice covers nothing. */
export function NoticeBar() {
  const viewId = useStore((state) => state.viewId);
  const { notice } = useNotice();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is why it goes
  useEffect(() => {
    if (useNotice.getState().notice?.link !== undefined) say(undefined);
  }, [viewId]);
  return (
    <div role="status" className={classes.bar}>
      {notice !== undefined && (
        <Group gap="xs" wrap="nowrap" className={classes.notice} data-kind={notice.kind}>
          <Text size="sm" className={classes.words}>
            {notice.text}
          </Text>
          {notice.link !== undefined && (
            <Anchor size="sm" href={notice.link.href} className={classes.link}>
              {notice.link.text}
            </Anchor>
          )}
          <IconButton label="Close" onClick={() => say(undefined)}>
            <IconX size={16} stroke={1.5} />
          </IconButton>
        </Group>
      )}
    </div>
  );
}
