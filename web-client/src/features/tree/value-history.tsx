import { Button, Group, Slider, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconPlayerTrackNext } from '@tabler/icons-react';
import type { LoggedMessage } from '../../engine/types.ts';
import { formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import classes from './tree-view.module.css';

const ICON = { size: 16, stroke: 1.5 } as const;

interface ValueHistoryProps {
  readonly messages: readonly LoggedMessage[];
  /** Index of the one that is shown. */
  readonly shown: number;
  /** Whether new messages are shown as they come. */
  readonly isFollowing: boolean;
  readonly onShow: (index: number) => void;
  readonly onFollow: () => void;
}

/** Goes back through the last values of a topic. */
export function ValueHistory({ messages, shown, isFollowing, onShow, onFollow }: ValueHistoryProps) {
  const last = messages.length - 1;
  const message = messages[shown];
  const nameOf = (index: number): string =>
    `${index + 1} of ${messages.length} · ${formatTime(messages[index]?.atMs ?? 0)}`;
  if (message === undefined) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.history} role="group" aria-label="The last values">
      <Group gap={6} wrap="nowrap">
        <IconButton label="The value before" disabled={shown === 0} onClick={() => onShow(shown - 1)}>
          <IconChevronLeft {...ICON} />
        </IconButton>
        <Slider
          flex={1}
          size="sm"
          min={0}
          max={last}
          value={shown}
          onChange={onShow}
          label={nameOf}
          thumbLabel="Which of the last values"
          thumbValueText={nameOf}
        />
        <IconButton label="The value after" disabled={shown === last} onClick={() => onShow(shown + 1)}>
          <IconChevronRight {...ICON} />
        </IconButton>
      </Group>
      <Group gap={6} mt={4}>
        <Text size="xs" className={classes.number} data-testid="history-place">
          {nameOf(shown)}
        </Text>
        <Button
          variant={isFollowing ? 'light' : 'default'}
          size="compact-xs"
          aria-pressed={isFollowing}
          leftSection={<IconPlayerTrackNext size={14} stroke={1.5} />}
          onClick={onFollow}
        >
          Newest
        </Button>
      </Group>
    </div>
  );
}
